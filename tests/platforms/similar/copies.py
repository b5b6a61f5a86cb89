"""What somebody does to a copy so that it looks like work of their own."""

import ast


def names_changed(text: str) -> str:
    """Rename every parameter and local variable."""
    tree = ast.parse(text)
    kept = {"self"} | {
        (alias.asname or alias.name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    bound = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    new = {name: f"my_{number}" for number, name in enumerate(sorted(bound - kept))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = new.get(node.arg, node.arg)
    return ast.unparse(tree)


def turned_round(text: str) -> str:
    """Put functions, classes and methods into the reverse order."""
    tree = ast.parse(text)
    kinds = (ast.FunctionDef, ast.ClassDef)
    for node in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]:
        moved = [part for part in node.body if isinstance(part, kinds)]
        node.body = [part for part in node.body if not isinstance(part, kinds)] + moved[::-1]
    return ast.unparse(tree)


def texts_changed(text: str) -> str:
    """Change every text and docstring; comments and layout go with it."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            parts = value if isinstance(value, list) else [value]
            for number, part in enumerate(parts):
                if isinstance(part, ast.JoinedStr):
                    changed: ast.expr = ast.Constant("something else")
                elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                    changed = ast.Constant(f"indeed {part.value}")
                else:
                    continue
                if isinstance(value, list):
                    value[number] = changed
                else:
                    setattr(node, field, changed)
    return ast.unparse(ast.fix_missing_locations(tree))


def without_types(text: str) -> str:
    """Take annotations and docstrings off."""

    class Plain(ast.NodeTransformer):
        def visit_arg(self, node: ast.arg) -> ast.arg:
            node.annotation = None
            return node

        def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
            return ast.Assign([node.target], node.value) if node.value else node

        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
            self.generic_visit(node)
            node.returns = None
            if ast.get_docstring(node) is not None and len(node.body) > 1:
                del node.body[0]
            return node

    return ast.unparse(ast.fix_missing_locations(Plain().visit(ast.parse(text))))


def other_layout(text: str) -> str:
    """Break lines wherever brackets allow it, and write comments everywhere."""
    lines = ast.unparse(ast.parse(text)).split("\n")
    return "\n\n".join(
        f"{line.replace('(', '(  # here').replace('# here', '# here' + chr(10))}  # a line"
        if "'" not in line and '"' not in line
        else line
        for line in lines
    )


def everything(text: str) -> str:
    """Do all of it."""
    return names_changed(turned_round(texts_changed(without_types(text))))
