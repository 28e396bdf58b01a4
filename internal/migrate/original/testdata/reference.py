# Evaluates what the original would, with the Jinja2 and the YAML of this machine.
# stdin: {"texts": [...], "context": {...}} or {"variables": [...], "manifests": [...], "states": {...}, "given": {...}}
import json
import os
import sys

import jinja2
import yaml


def evaluate(value, context):
    if isinstance(value, dict):
        return {k: evaluate(v, context) for k, v in value.items()}
    if isinstance(value, list):
        return [evaluate(v, context) for v in value]
    if not isinstance(value, str):
        return value
    if value.startswith("{{") and value.endswith("}}") and value.count("{{") == 1:
        found = env.compile_expression(value[2:-2], undefined_to_none=False)(context)
        if isinstance(found, jinja2.Undefined):
            raise ValueError("undefined")
        return found
    if "{{" in value or "{%" in value:
        return env.from_string(value).render(context)
    return value


def merge(into, other):
    for k, v in other.items():
        if isinstance(v, dict) and isinstance(into.get(k), dict):
            merge(into[k], v)
        else:
            into[k] = v


def text(value):
    return json.dumps(json.loads(json.dumps(value)), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


given = json.load(sys.stdin)
env = jinja2.Environment(loader=jinja2.DictLoader(given.get("includes") or {}))
out = []
if "texts" in given:
    context = yaml.safe_load(given["variables"])
    context.update(given["context"])
    for t in given["texts"]:
        try:
            out.append(text(evaluate(t, context)))
        except Exception:
            out.append("error")
else:
    context = dict(_verbose=False, _workspace=os.getcwd())
    for f in given["variables"] or []:
        merge(context, evaluate(yaml.safe_load(f) or {}, context))
    merge(context, given["given"] or {})
    resources = {}
    for f in given["manifests"] or []:
        resources.update((yaml.safe_load(f) or {}).get("resources") or {})
    out = {}
    for name, r in resources.items():
        own = dict(context)
        for alias, on in (r.get("dependencies") or {}).items():
            own[alias] = {"name": on, "type": evaluate(resources[on]["type"], context), "state": given["states"].get(on)}
        out[name] = {
            "type": evaluate(r["type"], context),
            "read_only": evaluate(r.get("readonly", False), context),
            "config": evaluate(r.get("config") or {}, own),
        }
sys.stdout.write(text(out))
