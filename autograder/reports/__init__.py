"""What people read: progress, tables, moved marks, explanations of disputes, exports, pages.

The code that starts a batch holds it, and the command. All of it is made of result files alone,
read one by one, and loads no torch. Door: `shown.py`, which says what of a result may be seen.
"""
