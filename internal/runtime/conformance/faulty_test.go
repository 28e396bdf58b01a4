package conformance_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// faulty is a type that manages named texts, carefully but for one fault.
type faulty struct {
	fault string

	mu     sync.Mutex
	texts  map[string]string
	asked  int // how often
	shared int // how many actions have shared a container
	writes int
	gone   int // how often it was asked for the absence of what is gone
}

type textConfig struct {
	Name     string `json:"name"`
	Text     string `json:"text"`
	Note     string `json:"note"`
	Password string `json:"password"`
}

const textInit = `{"protocol":2,"label":"Text","absent":true,"identity":["/name"],"state_action":{"args":["state"]},"worker":{"args":["worker"]},
 "config_schema":{"type":"object","required":["name","text"],"additionalProperties":false,"properties":{
  "name":{"type":"string"},"text":{"type":"string"},"note":{"type":"string"},"password":{"type":"string","writeOnly":true}}},
 "state_schema":{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}}`

// run is the program of its image.
func (f *faulty) run(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(s.Args) == 1 && s.Args[0] == "watch" {
		return f.watch(ctx, stdin, stdout)
	}
	if f.fault == "denies what it cannot reach" && s.Settings.Network == runner.NoNetwork && slices.Equal(s.Args, []string{"state"}) {
		_, _ = io.WriteString(stdout, `{"status":"MISSING"}`)
		return 0
	}
	if ctx = f.ignoreSIGTERM(ctx, s); s.Args != nil && s.Args[0] == "worker" {
		return f.work(stdin, stdout)
	}
	raw, err := io.ReadAll(stdin)
	if err != nil {
		return 90
	}
	if s.Kind == runner.Action && s.ReuseActions {
		if f.shared++; f.shared > 1 && f.fault == "actions leave a lock" {
			_, _ = io.WriteString(stderr, "/tmp/lock exists")
			return 8
		}
	}
	return f.step(ctx, s.Args, raw, stdout, stderr)
}

// ignoreSIGTERM never returns for a step whose fault that is, when it is timed out.
func (f *faulty) ignoreSIGTERM(ctx context.Context, s runner.Spec) context.Context {
	step := s.Name[strings.LastIndexByte(s.Name, '/')+1:]
	if f.fault == step+" ignores SIGTERM" && s.Timeout > 0 && s.Timeout < 50_000_000 {
		<-context.WithoutCancel(ctx).Done() // never
	}
	return ctx
}

func (f *faulty) step(_ context.Context, args []string, raw []byte, stdout, stderr io.Writer) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	var in protocol.ActionInput
	var c textConfig
	dec := json.NewDecoder(bytes.NewReader(raw))
	grease := bytes.Contains(raw, []byte(`"grease"`))
	if err := dec.Decode(&in); err != nil {
		return 91
	}
	_ = json.Unmarshal(in.Config, &c)
	step := "init"
	if len(args) > 0 {
		step = args[0]
	}
	if grease && f.fault == step+" chokes on grease" {
		_, _ = fmt.Fprintln(stderr, "unknown key")
		return 3
	}
	if f.fault == "prints secrets" && step == "write" {
		_, _ = fmt.Fprintln(stderr, "logging in with", c.Password)
	}
	switch step {
	case "init":
		return f.init(in, stdout, stderr)
	case "state":
		return f.state(in, c, grease, stdout, stderr)
	case "write":
		return f.write(c, grease)
	case "copy", "shout", "send":
		return f.operate(step, c, stderr)
	case "remove":
		if f.fault != "remove does nothing" {
			delete(f.texts, c.Name)
		}
	}
	return 0
}

func (f *faulty) init(in protocol.ActionInput, stdout, stderr io.Writer) int {
	answer := textInit
	switch f.fault {
	case "init on stderr":
		_, _ = io.WriteString(stderr, answer)
		return 0
	case "init refuses":
		return 1
	case "init depends on the name":
		answer = strings.Replace(answer, `"Text"`, `"Text `+in.Name+`"`, 1)
	case "alone":
		answer = strings.Replace(answer, `"worker":{"args":["worker"]},`, "", 1)
	case "no schema":
		answer = `{"absent":true,"state_action":{"args":["state"]}}`
	case "open schema":
		answer = strings.Replace(answer, `"additionalProperties":false,`, "", 1)
	case "reuse actions", "actions leave a lock":
		answer = strings.Replace(answer, `"absent":true`, `"absent":true,"reuse":true,"reuse_actions":true`, 1)
	case "reuse", "reuse counts":
		answer = strings.Replace(answer, `"absent":true`, `"absent":true,"reuse":true`, 1)
	case "watches", "watch is never ready", "watch is no JSON", "watch tells of looks", "watch tells nothing", "watch does not end",
		"watch worker takes few", "watch worker never cancels":
		answer = strings.Replace(answer, `"absent":true`, `"absent":true,"watch_action":{"args":["watch"]}`, 1)
	case "is told", "is lost when told":
		answer = strings.Replace(answer, `"absent":true`, `"absent":true,"refresh":true`, 1)
	case "identity of nothing":
		answer = strings.Replace(answer, `["/name"]`, `["/path"]`, 1)
	case "identity of what may be missing":
		answer = strings.Replace(answer, `["/name"]`, `["/name","/note"]`, 1)
	case "identity of a secret":
		answer = strings.Replace(answer, `["/name"]`, `["/password"]`, 1)
	case "operates", "copies into the text", "cannot copy", "copy chokes on grease", "loses it":
		answer = strings.Replace(answer, `"absent":true`, `"absent":true,"operations":{"copy":{"args":["copy"],"changes":false},
			"shout":{"args":["shout"]},"send":{"args":["send"],"config_schema":{"type":"object","required":["to"],"properties":{
			"to":{"type":"string"}},"additionalProperties":false}}}`, 1)
	case "no identity":
		answer = strings.Replace(answer, `"identity":["/name"],`, "", 1)
	case "init is greedy":
		answer = strings.Replace(answer, `"required":["name","text"]`, `"required":["name","text","zone"]`, 1)
	}
	_, _ = io.WriteString(stdout, answer)
	return 0
}

// operate runs an operation.
func (f *faulty) operate(step string, c textConfig, stderr io.Writer) int {
	switch {
	case step == "shout" && f.fault == "loses it":
		delete(f.texts, c.Name)
	case step == "shout":
		f.texts[c.Name] = "SHOUTED"
	case f.fault == "copies into the text":
		f.texts[c.Name] += " copy"
	case f.fault == "cannot copy" && step == "copy":
		_, _ = io.WriteString(stderr, "no room for a copy")
		return 4
	}
	return 0
}

func (f *faulty) write(c textConfig, grease bool) int {
	f.writes++
	switch {
	case f.fault == "write fails":
		return 7
	case f.fault == "write does nothing", f.fault == "writes once" && f.writes > 1, f.fault == "never updates" && f.writes > 1,
		grease && f.fault == "write is confused by grease":
		return 0
	}
	f.texts[c.Name] = c.Text
	return 0
}

// state answers, wrongly where that is the fault.
func (f *faulty) state(in protocol.ActionInput, c textConfig, grease bool, stdout, stderr io.Writer) int {
	have, there := f.texts[c.Name]
	if f.fault == "goes by its name" && in.Name != "test" {
		there = false
	}
	if f.fault == "finds any" && len(f.texts) > 0 {
		have, there = f.texts["a"], true
	}
	if f.fault == "named by its text" && have != c.Text || f.fault == "named by its note" && c.Note != "" {
		there = false
	}
	answer := f.verdict(in, c, have, there)
	switch f.fault {
	case "state fails":
		return 1
	case "state on stderr":
		_, _ = io.WriteString(stderr, `{"status":"VALID","state":{}}`)
		return 0
	case "state counts":
		answer["actions"] = []any{map[string]any{"name": fmt.Sprintf("write-%d", f.asked), "args": []string{"write"}}}
		if there {
			answer = map[string]any{"status": "VALID", "state": map[string]any{"text": have}}
		}
	case "valid counts", "reuse counts":
		if s, ok := answer["state"].(map[string]any); ok && (f.fault == "valid counts" || f.asked > 30) {
			s["asked"] = f.asked
		}
	case "state is confused by grease":
		if grease && !there {
			answer = map[string]any{"status": "VALID", "state": map[string]any{}}
		}
	case "believes the last state":
		if s := in.LastState; s != nil && in.Intent != protocol.Absent {
			answer = map[string]any{"status": "VALID", "state": map[string]any{"text": c.Text, "known": true}}
		}
	case "believes its actions":
		if len(in.After) > 0 && in.Intent != protocol.Absent {
			answer = map[string]any{"status": "VALID", "state": map[string]any{"text": c.Text, "done": in.After}}
		}
	case "remembers after the end":
		if s := in.LastState; s != nil && in.Intent != protocol.Absent && !there {
			answer = map[string]any{"status": "VALID", "state": s}
		}
	case "ghost":
		if in.Intent != protocol.Absent || there {
			f.gone = 0
		} else if f.gone++; f.gone > 1 {
			answer = map[string]any{"status": "STALE", "actions": []any{map[string]any{"name": "remove", "args": []string{"remove"}}}}
		}
	case "denies it":
		if in.Intent == protocol.Absent {
			answer = map[string]any{"status": "MISSING"}
		}
	case "state without text":
		if s, ok := answer["state"].(map[string]any); ok {
			delete(s, "text")
		}
	}
	_ = json.NewEncoder(stdout).Encode(answer)
	return 0
}

// verdict is the careful answer.
func (f *faulty) verdict(in protocol.ActionInput, c textConfig, have string, there bool) map[string]any {
	action := func(name string) []any { return []any{map[string]any{"name": name, "args": []string{name}}} }
	switch {
	case in.Intent == protocol.Absent && !there:
		return map[string]any{"status": "MISSING"}
	case in.Intent == protocol.Absent:
		return map[string]any{"status": "STALE", "staleState": map[string]any{"text": have}, "actions": action("remove")}
	case in.Refresh && f.fault == "is lost when told":
		there = false
	case in.Refresh: // it writes it again
	case there && (have == c.Text || f.fault == "compares nothing"):
		return map[string]any{"status": "VALID", "state": map[string]any{"text": have}}
	}
	answer := map[string]any{"status": "STALE", "actions": action("write"), "forecast": map[string]any{"text": c.Text}}
	if f.fault == "wrong forecast" {
		answer["forecast"] = map[string]any{"text": "something else"}
	}
	if there {
		answer["staleState"] = map[string]any{"text": have}
		answer["reasons"] = []any{map[string]any{"path": "/text", "have": have, "want": c.Text}}
	}
	return answer
}

// work is the worker.
func (f *faulty) work(stdin io.Reader, stdout io.Writer) int {
	lines := bufio.NewScanner(stdin)
	for lines.Scan() {
		if asksToWatch(lines.Bytes()) {
			return f.watchMany(lines.Bytes(), lines, stdout)
		}
		var r protocol.WorkerRequest
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return 92
		}
		if r.Cancel {
			continue
		}
		var out, log bytes.Buffer
		if len(r.Args) > 0 && r.Args[0] != "state" && strings.HasPrefix(f.fault, "worker ") && strings.HasSuffix(f.fault, " act") {
			exit := 0
			if f.fault == "worker fails to act" {
				exit = 4
			}
			_ = json.NewEncoder(stdout).Encode(protocol.WorkerReply{ID: r.ID, Exit: &exit})
			continue
		}
		exit := f.step(context.Background(), r.Args, r.Stdin, &out, &log)
		text := out.String()
		switch f.fault {
		case "worker chatters":
			_, _ = io.WriteString(stdout, "hello\n")
		case "worker differs":
			text = strings.Replace(text, "STALE", "VALID", 1)
		case "worker forgets an exit":
			if r.ID == 2 {
				continue
			}
		case "worker ends twice":
			_ = json.NewEncoder(stdout).Encode(protocol.WorkerReply{ID: r.ID, Exit: &exit})
		case "worker says another exit":
			exit = 5
		case "worker crashes":
			return 1
		}
		for _, reply := range []protocol.WorkerReply{{ID: r.ID, Stdout: text[:len(text)/2]}, {ID: r.ID, Stderr: "log"}, {ID: r.ID, Stdout: text[len(text)/2:]}, {ID: r.ID, Exit: &exit}} {
			_ = json.NewEncoder(stdout).Encode(reply)
		}
	}
	return 0
}
