# SPDX-License-Identifier: GPL-2.0-only
"""Checks an answer against doc/lttctl.schema.json. Knows the part of JSON Schema that the
file uses, and is stricter: a member that the file does not name is an error, so that each
member is described."""
import json
import os

with open(f"{os.environ['TOP']}/doc/lttctl.schema.json", encoding="utf-8") as f:
    SCHEMA = json.load(f)
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}
KNOWN = {"$schema", "$defs", "$comment", "title", "description", "type", "required", "properties", "enum",
         "additionalProperties", "const", "items", "anyOf", "allOf", "if", "then", "$ref"}
used = set()  # references that were followed


class Wrong(Exception):
    pass


def is_a(value, types):
    types = [types] if isinstance(types, str) else types
    return any(isinstance(value, TYPES[t]) and not (t in ("integer", "number") and isinstance(value, bool))
               for t in types)


def check_object(value, schema, where, strict):
    for name in schema.get("required", ()):
        if name not in value:
            raise Wrong(f"{where}.{name} is missing")
    for name, member in value.items():
        if name in schema.get("properties", ()):
            check(member, schema["properties"][name], f"{where}.{name}", strict)
        elif "additionalProperties" in schema:
            check(member, schema["additionalProperties"], f"{where}.{name}", strict)
        elif strict:
            raise Wrong(f"{where}.{name} is not described in doc/lttctl.schema.json")


def fits(value, schema, where, strict=True):
    before = set(used)
    try:
        check(value, schema, where, strict)
    except Wrong as wrong:
        used.intersection_update(before)
        return str(wrong)
    return ""


def check(value, schema, where="answer", strict=True):
    """Raise Wrong where @value does not match @schema."""
    if unknown := set(schema) - KNOWN:
        raise Wrong(f"the schema has {unknown}, which is not checked")
    if "$ref" in schema:
        used.add(name := schema["$ref"].removeprefix("#/$defs/"))
        check(value, SCHEMA["$defs"][name], where, strict)
    if "type" in schema and not is_a(value, schema["type"]):
        raise Wrong(f"{where}: {value!r} is no {schema['type']}")
    if "const" in schema and value != schema["const"]:
        raise Wrong(f"{where}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        raise Wrong(f"{where}: {value!r} is none of {schema['enum']}")
    if isinstance(value, dict) and ("properties" in schema or "additionalProperties" in schema):
        check_object(value, schema, where, strict)
    for i, item in enumerate(value if isinstance(value, list) and "items" in schema else ()):
        check(item, schema["items"], f"{where}[{i}]", strict)
    wrong = []
    for alternative in schema.get("anyOf", ()):
        if not (why := fits(value, alternative, where, strict)):
            break
        wrong.append(why)
    else:
        if wrong:
            raise Wrong(" / ".join(wrong))
    for part in schema.get("allOf", ()):
        check(value, part, where, strict)
    if "if" in schema and not fits(value, schema["if"], where, False):
        check(value, schema["then"], where, False if "properties" in schema["then"] else strict)


def types(schema):
    """The types that a value may have, but null; of items, too."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        return {name} if name in ("integer", "time", "text") else types(SCHEMA["$defs"][name])
    found = set().union(*map(types, schema.get("anyOf", ())))
    for one in [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", ()):
        found |= {f"array of {sorted(types(schema['items']))}" if one == "array" else {"string": "text"}.get(one, one)}
    return found - {"null"}


def types_by_name(schema=SCHEMA["$defs"]):
    """{name of a member: its types, wherever it is described}."""
    found = {}
    for key, value in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if key == "properties":
            for name, member in value.items():
                found[name] = found.get(name, set()) | types(member)
        if isinstance(value, (dict, list)) and key not in ("if", "then"):
            for name, those in types_by_name(value).items():
                found[name] = found.get(name, set()) | those
    return found


def answer(value, kind="answer"):
    """Check a line of lttctl; @kind: its name in the schema, event_line."""
    check(value, SCHEMA)
    check(value, {"$ref": f"#/$defs/{kind}"})
    if kind == "answer" and value["success"]:
        check(value["result"], {"$ref": f"#/$defs/result_{value['verb']}"}, "result")
