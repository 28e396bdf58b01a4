package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// Where a script of the canary keeps what its commands print: of those in which a type prints
// a secret before its answer marks it, which cannot be taken back, in a directory of its own.
const (
	canaryShown = "shown"
	canaryMade  = "made"
)

// canary prepares a type that shows a secret in each form and place, runs commands and keeps
// what they print, or checks that the secret is nowhere.
func canary(ts *testscript.TestScript, neg bool, args []string) {
	switch {
	case !neg && len(args) == 1 && args[0] == "prepare":
		prepareCanary(ts, ts.MkAbs("in"))
	case !neg && len(args) > 2 && args[0] == "run":
		runCanary(ts, canaryShown, args[1:])
	case !neg && len(args) > 2 && args[0] == "make":
		runCanary(ts, canaryMade, args[1:])
	case !neg && len(args) > 0 && args[0] == "nowhere":
		searchCanary(ts, args[1:])
	default:
		ts.Fatalf("usage: canary prepare, canary run|make CODE COMMAND..., or canary nowhere [EXCEPT...]")
	}
}

// runCanary runs a command that must end with an exit code, and keeps what it prints in a directory.
func runCanary(ts *testscript.TestScript, dir string, args []string) {
	exits(ts, false, args)
	ts.Check(os.MkdirAll(ts.MkAbs(dir), 0o755))
	before, err := os.ReadDir(ts.MkAbs(dir))
	ts.Check(err)
	for _, stream := range []string{"stdout", "stderr"} {
		name := fmt.Sprintf("%03d-%s", len(before), stream)
		ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(dir), name), []byte(ts.ReadFile(stream)), 0o600))
	}
}

// prepareCanary packs the type as test/canary:1, with programs that share a container as
// test/reuse:1 and with a memory as test/recall:1, writes its answers, and gives the secret as
// the variable password, in a file: it is in the environment of no process.
func prepareCanary(ts *testscript.TestScript, dir string) {
	packKept("canary")(ts, false, []string{"test/canary:1"})
	packKept("canary")(ts, false, []string{"test/reuse:1", "reuse"})
	ts.Check(os.Remove(ts.MkAbs(".canary/reuse")))
	packKept("canary")(ts, false, []string{"test/recall:1", "memory"})
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.WriteFile(ts.MkAbs(canaryInput), []byte("password = "+strconv.Quote(canaryWord)+"\n"), 0o600))
	write := func(name string, v any) {
		content, err := json.Marshal(v)
		ts.Check(err)
		ts.Check(os.WriteFile(filepath.Join(dir, name), append(content, '\n'), 0o644))
	}
	type object = map[string]any
	var log, generated strings.Builder
	var reasons, fields []object
	values, keys, parts, repeated := object{}, object{}, []string{}, []string{}
	forms := canaryForms(canaryWord)
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		text := forms[name]
		fmt.Fprintf(&log, "%s: it is %s.\n%s\n", name, text, text)
		values[name], parts = text, append(parts, "at "+text+" it is")
		keys["in "+name] = object{text: object{"x": 1}}
		reasons = append(reasons, object{"path": "/" + text, "have": text, "want": object{text: text}, "message": "it is " + text},
			object{"path": "/m/" + text + "/x", "have": 1})
		fields = append(fields, object{"name": text, "value": text}, object{"name": "in " + name, "value": "it is " + text + "."})
	}
	forms = canaryForms(generatedWord)
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		text := forms[name]
		fmt.Fprintf(&generated, "%s: it will be %s.\n%s\n", name, text, text)
		repeated = append(repeated, "at "+text+" it is")
	}
	ts.Check(os.WriteFile(filepath.Join(dir, "log"), []byte(log.String()), 0o644))
	ts.Check(os.WriteFile(filepath.Join(dir, "generated"), []byte(generated.String()), 0o644))
	state := object{"values": values, "keys": keys, "parts": parts, "password": generatedWord, "repeated": repeated, "open": "public"}
	actions := []object{{"name": "make", "args": []string{"make"}, "description": parts[0]}}
	reasons = append(reasons, object{"path": "/password", "have": canaryWord[:9] + "before", "want": canaryWord})
	forecast := object{"values": values, "keys": keys}
	write("stale.json", object{"status": "STALE", "actions": actions, "reasons": reasons, "forecast": forecast})
	write("valid.json", object{"status": "VALID", "state": state})
	write("drift.json", object{"status": "STALE", "staleState": state, "actions": actions, "reasons": reasons, "forecast": forecast})
	write("error.json", object{"error": object{"class": "config", "path": "/m/" + canaryWord, "message": log.String()}})
	write("made.json", object{"version": object{"ref": "1"}, "metadata": fields})
	write("memory.json", object{"memory": object{"remembered": values, "generated": repeated}})
}
