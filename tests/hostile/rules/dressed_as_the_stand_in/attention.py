"""Goal: call torch's own multi-head attention under the file name of a stand-in, which may.

Component: multi_head_attention
At most: 1.5
"""


# Broken on purpose: whoever uses it is graded once more, with a working one in its place.
def scaled_dot_product_attention(query, key, value, mask=None):
    return value, query
