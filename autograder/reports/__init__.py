"""What people read: progress, tables, moved marks, explanations of disputes, feedback."""
