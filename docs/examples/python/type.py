#!/usr/bin/python3
"""A resource type in Python, with nothing but its standard library: a text
file in the plug "notes". It runs once for each question, or as a worker, and
tells when a note has changed."""
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

INIT = {
    "protocol": 2, "label": "Note", "absent": True,
    "state_action": {"args": ["state"]}, "watch_action": {"args": ["watch"]}, "worker": {"args": ["worker"]},
    "identity": ["/name"],
    "plugs": {"notes": {"container_path": "/notes"}},
    "config_schema": {
        "type": "object", "additionalProperties": False, "required": ["name", "text"],
        "properties": {"name": {"type": "string", "pattern": "^[a-z]+$"},
                       "text": {"type": "string", "description": "what stands in it"}}},
    "state_schema": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}},
}


def read(config):
    """What is there; None when nothing is."""
    try:
        with open("/notes/" + config["name"], newline="") as f:
            return {"text": f.read()}
    except FileNotFoundError:
        return None


def state(call):
    """Is it as it should be, and what would make it so? Changes nothing."""
    config, have = call["config"], read(call["config"])
    if call["intent"] == "absent":
        return stale("remove", have) if have else {"status": "MISSING"}
    if have is None or have["text"] != config["text"]:
        return stale("write", have, forecast={"text": config["text"]})
    return {"status": "VALID", "state": have}


def stale(action, have, **more):
    answer = {"status": "STALE", "actions": [{"name": action, "args": [action]}], **more}
    if have is not None:
        answer["staleState"] = have
    return answer


def write(call):
    path = "/notes/" + call["config"]["name"]
    with open(path + ".new", "w", newline="") as f:
        f.write(call["config"]["text"])
    os.replace(path + ".new", path)


def remove(call):
    if read(call["config"]) is not None:
        os.remove("/notes/" + call["config"]["name"])


def stamp(call):
    """Something else when the note is another."""
    try:
        s = os.stat("/notes/" + call["config"]["name"])
        return s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns
    except FileNotFoundError:
        return None


class Watch(threading.Thread):
    """Looks at all notes that are watched, and says which are others: one thread for all."""

    def __init__(self):
        super().__init__(daemon=True)
        self.lock, self.notes = threading.Lock(), {}
        self.start()

    def add(self, id, call, tell):
        with self.lock:
            self.notes[id] = call, tell, stamp(call)
            tell()  # from now on

    def remove(self, id):
        with self.lock:
            return self.notes.pop(id, None)

    def run(self):
        while True:
            time.sleep(0.3)
            with self.lock:
                for id, (call, tell, was) in self.notes.items():
                    if was != (now := stamp(call)):
                        self.notes[id] = call, tell, now
                        tell()


STEPS = {"state": state, "write": write, "remove": remove}


def run(args, call):
    """One invocation: gives stdout, stderr and the exit code."""
    try:
        answer = STEPS[args[0]](call) if args else INIT
        return json.dumps(answer) if answer else "", "", 0
    except Exception as e:  # whatever it is, the user is to read it
        return "", f"{type(e).__name__}: {e}\n", 1


def worker():
    """Many invocations, in any order; each line is one JSON object."""
    one_line, waiting, watch = threading.Lock(), {}, Watch()

    def reply(**fields):
        with one_line:
            print(json.dumps(fields), flush=True)

    def serve(id, args, call):
        stdout, stderr, code = run(args, call)
        waiting.pop(id, None)
        if stdout:
            reply(id=id, stdout=stdout)
        if stderr:
            reply(id=id, stderr=stderr)
        reply(id=id, exit=code)

    with ThreadPoolExecutor(8) as pool:
        for line in sys.stdin:
            if not line.endswith("\n"):
                break  # whoever asks died over it
            request = json.loads(line)
            id = request["id"]
            if request.get("args") == ["watch"]:  # any number, until stdin ends
                watch.add(id, request["stdin"], lambda id=id: reply(id=id, stdout="{}\n"))
            elif not request.get("cancel"):
                waiting[id] = pool.submit(serve, id, request.get("args", []), request.get("stdin"))
            elif watch.remove(id):
                reply(id=id, exit=143)
            elif id in waiting and waiting.pop(id).cancel():  # it had not begun
                reply(id=id, exit=143)


if sys.argv[1:] == ["worker"]:
    worker()
elif sys.argv[1:] == ["watch"]:
    Watch().add(0, json.loads(sys.stdin.readline()), lambda: print("{}", flush=True))
    sys.stdin.read()  # until its end
else:
    stdout, stderr, code = run(sys.argv[1:], json.load(sys.stdin))
    print(stdout, end="")
    print(stderr, end="", file=sys.stderr)
    sys.exit(code)
