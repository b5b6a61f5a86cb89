
import enum
import layer_norm
class E(enum.Enum):
    pass
layer_norm.q = E
