package answers

import (
	"encoding/json"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/protocol"
)

// ReadAnswer parses a state answer. The result is the same type for both protocol
// versions. A failure that the image reports itself is returned as a TypeError.
func ReadAnswer(answer []byte, version int, intent protocol.Intent) (protocol.Answer, *protocol.TypeError, error) {
	f, err := ReadFields(answer)
	if err != nil {
		return protocol.Answer{}, nil, err
	}
	if version == 2 && f.has("error") {
		te := failure(f)
		if *f.First != nil {
			return protocol.Answer{}, nil, *f.First
		}
		return protocol.Answer{}, te, nil
	}
	var a protocol.Answer
	switch status := f.needText("status"); {
	case *f.First != nil:
	case version == 1:
		a = answerOne(f, protocol.Status(status))
	case intent == protocol.Absent:
		a = answerAbsent(f, protocol.Status(status))
	default:
		a = answerTwo(f, protocol.Status(status))
	}
	f.Done()
	if *f.First != nil {
		return protocol.Answer{}, nil, *f.First
	}
	return a, nil, nil
}

// failure reads the error that stands in place of a status.
func failure(f *Fields) *protocol.TypeError {
	var te protocol.TypeError
	if e := f.object("error"); e != nil {
		te = protocol.TypeError{Class: protocol.ErrorClass(e.needText("class")), Message: e.needText("message"), Path: pointer(e, "path")}
		e.Done()
		switch te.Class {
		case protocol.ConfigError, protocol.TransientError, protocol.DeniedError, protocol.BugError, protocol.UnsettledError:
		default:
			f.Problem("\"error.class\" is %q, and must be \"config\", \"transient\", \"denied\", \"bug\" or \"unsettled\"", te.Class)
		}
	}
	f.Done()
	return &te
}

func answerOne(f *Fields, status protocol.Status) protocol.Answer {
	switch status {
	case protocol.Valid:
		a := protocol.Answer{Status: status, State: f.Document("properties")}
		if a.State == nil {
			f.Problem("VALID without \"properties\"")
		}
		if len(f.objects("actions")) > 0 {
			f.Problem("VALID with actions: a valid resource needs none")
		}
		return a
	case protocol.Missing, protocol.Stale:
		if f.has("properties") {
			f.Problem("%s with \"properties\": they belong to VALID", status)
		}
		a := protocol.Answer{Status: status, Actions: actions(f, status)}
		if status == protocol.Stale {
			a.StaleState = f.Document("staleProperties")
		}
		return a
	}
	f.Problem("the status is %q, and must be one of MISSING, STALE, VALID", status)
	return protocol.Answer{}
}

func answerTwo(f *Fields, status protocol.Status) protocol.Answer {
	switch status {
	case protocol.Valid:
		a := protocol.Answer{Status: status, State: f.Document("state"), Memory: readMemory(f), Provides: provides(f.objects(providesKey))}
		if a.State == nil {
			f.Problem("VALID without \"state\"")
		}
		if f.has("actions") {
			f.Problem("VALID with the key \"actions\": a valid resource needs none")
		}
		return a
	case protocol.Stale:
		a := protocol.Answer{Status: status, StaleState: f.Document("staleState"), Actions: actions(f, status), Reasons: reasons(f),
			Forecast: f.Document("forecast"), MayDiffer: f.flag("forecast_may_differ", false),
			Unknown: pointers(f, "unknown"), ShutdownFirst: shutdown(f), Memory: readMemory(f), Provides: provides(f.objects(providesKey))}
		if a.StaleState == nil {
			a.Status = protocol.Missing
		}
		return a
	case protocol.Missing:
		f.Problem("the status is MISSING, which protocol 2 does not use for a declared resource; one that does not exist is STALE " +
			"without \"staleState\"")
		return protocol.Answer{}
	}
	f.Problem("the status is %q, and must be VALID or STALE", status)
	return protocol.Answer{}
}

func answerAbsent(f *Fields, status protocol.Status) protocol.Answer {
	switch status {
	case protocol.Missing:
		if f.has("actions") {
			f.Problem("MISSING with the key \"actions\": a missing resource needs none")
		}
		return protocol.Answer{Status: status}
	case protocol.Stale:
		return protocol.Answer{Status: status, StaleState: f.Document("staleState"), Actions: actions(f, status), Reasons: reasons(f),
			ShutdownFirst: shutdown(f), Memory: readMemory(f)}
	case protocol.Valid:
		f.Problem("the status is VALID, but the intent was \"absent\": return MISSING when it is gone, or STALE with the actions " +
			"that remove it")
		return protocol.Answer{}
	}
	f.Problem("the status is %q, and must be MISSING or STALE for the intent \"absent\"", status)
	return protocol.Answer{}
}

func actions(f *Fields, status protocol.Status) []protocol.Action {
	var out []protocol.Action
	for _, o := range f.objects("actions") {
		out = append(out, action(o))
	}
	if len(out) == 0 {
		f.Problem("%s without actions: there must be at least one", status)
	}
	return out
}

// maxName is the length limit of a name that an image chooses, in bytes.
const maxName = 128

// maxEffects is the size limit of the effects of an action, in bytes.
const maxEffects = 256 << 10

// properName reports whether a name appears the same wherever it is shown: it is on one
// line, and has no invisible characters and none that change the direction of text.
func properName(s string) bool {
	return len(s) <= maxName && !strings.ContainsAny(s, "\n\t") && diag.Visible(s) == s
}

func action(f *Fields) protocol.Action {
	a := protocol.Action{Name: f.needText("name"), Description: f.Text("description"), Destructive: f.flag("destructive", false),
		Command: command(f), Effects: f.Value("effects"), Guarded: f.flag("guarded", false)}
	f.Done()
	if len(a.Effects) > maxEffects {
		f.Problem("%q has %d bytes, and may have at most %d", f.at("effects"), len(a.Effects), maxEffects)
	}
	if !properName(a.Name) || strings.ContainsAny(a.Name, `/\`) || strings.HasPrefix(a.Name, ".") {
		f.Problem("%q is not a valid name for an action: at most %d bytes, no slashes, no control or invisible characters, no dot "+
			"at the start",
			f.at("name"), maxName)
	}
	return a
}

func shutdown(f *Fields) *protocol.Action {
	o := f.object("shutdown_first")
	if o == nil {
		return nil
	}
	a := action(o)
	if a.Guarded {
		f.Problem("\"shutdown_first\" is \"guarded\": it runs before all others, and cannot be undone together with what follows it")
	}
	return &a
}

func reasons(f *Fields) []protocol.Reason {
	var out []protocol.Reason
	for _, o := range f.objects("reasons") {
		out = append(out, protocol.Reason{Path: pointer(o, "path"), Have: o.Value("have"), Want: o.Value("want"),
			Message: o.Text("message")})
		o.Done()
	}
	return out
}

// pointer returns a JSON pointer; "" points to the whole document.
func pointer(f *Fields, key string) string {
	raw := f.get(key, "a string")
	if raw == nil || string(raw) == `""` {
		return ""
	}
	p := f.Text(key)
	if *f.First == nil && !strings.HasPrefix(p, "/") {
		f.Problem("%q is %q, and must be a JSON pointer, like /size", f.at(key), p)
	}
	return p
}

// pointers returns a list of JSON pointers to parts of a document, without duplicates.
func pointers(f *Fields, key string) []string {
	list := f.texts(key)
	if len(list) > maxEntries {
		f.Problem("%q has %d entries, and may have at most %d", f.at(key), len(list), maxEntries)
	}
	for i, p := range list {
		switch {
		case !strings.HasPrefix(p, "/") || strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(p), "~"):
			f.Problem("\"%s[%d]\" is %q, and must be a JSON pointer, like /name", f.at(key), i, p)
		case slices.Contains(list[:i], p):
			f.Problem("%q names %q twice", f.at(key), p)
		}
	}
	return list
}

// MaxMemory is the size limit of a resource's memory, in bytes.
const MaxMemory = 4 << 20

// readMemory returns the memory in an answer; nil if it has none.
func readMemory(f *Fields) json.RawMessage {
	m := f.Value("memory")
	switch {
	case string(m) == "null":
		f.Problem("%q is null, and must be a value; omit it where there is no memory", f.at("memory"))
	case len(m) > MaxMemory:
		f.Problem("%q has %d bytes, and may have at most %d", f.at("memory"), len(m), MaxMemory)
	}
	return m
}
