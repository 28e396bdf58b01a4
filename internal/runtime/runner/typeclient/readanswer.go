package typeclient

import (
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/protocol"
)

// readAnswer parses a state answer. The result is the same type for both protocol
// versions. A failure that the image reports itself is returned as a TypeError.
func readAnswer(answer []byte, version int, intent protocol.Intent) (protocol.Answer, *protocol.TypeError, error) {
	f, err := readFields(answer)
	if err != nil {
		return protocol.Answer{}, nil, err
	}
	if version == 2 && f.has("error") {
		te := f.failure()
		if *f.first != nil {
			return protocol.Answer{}, nil, *f.first
		}
		return protocol.Answer{}, te, nil
	}
	var a protocol.Answer
	switch status := f.needText("status"); {
	case *f.first != nil:
	case version == 1:
		a = f.answerOne(protocol.Status(status))
	case intent == protocol.Absent:
		a = f.answerAbsent(protocol.Status(status))
	default:
		a = f.answerTwo(protocol.Status(status))
	}
	f.done()
	if *f.first != nil {
		return protocol.Answer{}, nil, *f.first
	}
	return a, nil, nil
}

// failure reads the error that stands in place of a status.
func (f *fields) failure() *protocol.TypeError {
	var te protocol.TypeError
	if e := f.object("error"); e != nil {
		te = protocol.TypeError{Class: protocol.ErrorClass(e.needText("class")), Message: e.needText("message"), Path: e.pointer("path")}
		e.done()
		switch te.Class {
		case protocol.ConfigError, protocol.TransientError, protocol.DeniedError, protocol.BugError, protocol.UnsettledError:
		default:
			f.problem("\"error.class\" is %q, and must be \"config\", \"transient\", \"denied\", \"bug\" or \"unsettled\"", te.Class)
		}
	}
	f.done()
	return &te
}

func (f *fields) answerOne(status protocol.Status) protocol.Answer {
	switch status {
	case protocol.Valid:
		a := protocol.Answer{Status: status, State: f.document("properties")}
		if a.State == nil {
			f.problem("VALID without \"properties\"")
		}
		if len(f.objects("actions")) > 0 {
			f.problem("VALID with actions: what is valid needs none")
		}
		return a
	case protocol.Missing, protocol.Stale:
		if f.has("properties") {
			f.problem("%s with \"properties\": they belong to VALID", status)
		}
		a := protocol.Answer{Status: status, Actions: f.actions(status)}
		if status == protocol.Stale {
			a.StaleState = f.document("staleProperties")
		}
		return a
	}
	f.problem("the status is %q, and must be one of MISSING, STALE, VALID", status)
	return protocol.Answer{}
}

func (f *fields) answerTwo(status protocol.Status) protocol.Answer {
	switch status {
	case protocol.Valid:
		a := protocol.Answer{Status: status, State: f.document("state"), Memory: f.memory()}
		if a.State == nil {
			f.problem("VALID without \"state\"")
		}
		if f.has("actions") {
			f.problem("VALID with the key \"actions\": what is valid needs none")
		}
		return a
	case protocol.Stale:
		a := protocol.Answer{Status: status, StaleState: f.document("staleState"), Actions: f.actions(status), Reasons: f.reasons(),
			Forecast: f.document("forecast"), MayDiffer: f.flag("forecast_may_differ", false),
			Unknown: f.pointers("unknown"), ShutdownFirst: f.shutdown(), Memory: f.memory()}
		if a.StaleState == nil {
			a.Status = protocol.Missing
		}
		return a
	case protocol.Missing:
		f.problem("the status is MISSING, which protocol 2 does not use for a resource that is declared; what does not exist is STALE without " +
			"\"staleState\"")
		return protocol.Answer{}
	}
	f.problem("the status is %q, and must be VALID or STALE", status)
	return protocol.Answer{}
}

func (f *fields) answerAbsent(status protocol.Status) protocol.Answer {
	switch status {
	case protocol.Missing:
		if f.has("actions") {
			f.problem("MISSING with the key \"actions\": what is gone needs none")
		}
		return protocol.Answer{Status: status}
	case protocol.Stale:
		return protocol.Answer{Status: status, StaleState: f.document("staleState"), Actions: f.actions(status), Reasons: f.reasons(),
			ShutdownFirst: f.shutdown(), Memory: f.memory()}
	case protocol.Valid:
		f.problem("the status is VALID, but the intent was \"absent\": say MISSING when it is gone, or STALE with the actions that remove it")
		return protocol.Answer{}
	}
	f.problem("the status is %q, and must be MISSING or STALE for the intent \"absent\"", status)
	return protocol.Answer{}
}

func (f *fields) actions(status protocol.Status) []protocol.Action {
	var out []protocol.Action
	for _, o := range f.objects("actions") {
		out = append(out, o.action())
	}
	if len(out) == 0 {
		f.problem("%s without actions: there must be at least one", status)
	}
	return out
}

// maxName is the length limit of a name that an image chooses, in bytes.
const maxName = 128

// properName reports whether a name looks the same wherever it is shown: it is on one
// line, and has no invisible characters and none that change the direction of text.
func properName(s string) bool {
	return len(s) <= maxName && !strings.ContainsAny(s, "\n\t") && diag.Visible(s) == s
}

func (f *fields) action() protocol.Action {
	a := protocol.Action{Name: f.needText("name"), Description: f.text("description"), Destructive: f.flag("destructive", false),
		Command: f.command()}
	f.done()
	if !properName(a.Name) || strings.ContainsAny(a.Name, `/\`) || strings.HasPrefix(a.Name, ".") {
		f.problem("%q is no name for an action: at most %d bytes, no slashes, no control or invisible characters, no dot at the start",
			f.at("name"), maxName)
	}
	return a
}

func (f *fields) shutdown() *protocol.Action {
	o := f.object("shutdown_first")
	if o == nil {
		return nil
	}
	a := o.action()
	return &a
}

func (f *fields) reasons() []protocol.Reason {
	var out []protocol.Reason
	for _, o := range f.objects("reasons") {
		out = append(out, protocol.Reason{Path: o.pointer("path"), Have: o.value("have"), Want: o.value("want"), Message: o.text("message")})
		o.done()
	}
	return out
}

// pointer returns a JSON pointer; "" points to the whole document.
func (f *fields) pointer(key string) string {
	raw := f.get(key, "a string")
	if raw == nil || string(raw) == `""` {
		return ""
	}
	p := f.text(key)
	if *f.first == nil && !strings.HasPrefix(p, "/") {
		f.problem("%q is %q, and must be a JSON pointer, like /size", f.at(key), p)
	}
	return p
}

// pointers returns a list of JSON pointers to parts of a document, without duplicates.
func (f *fields) pointers(key string) []string {
	list := f.texts(key)
	if len(list) > maxEntries {
		f.problem("%q has %d entries, and may have at most %d", f.at(key), len(list), maxEntries)
	}
	for i, p := range list {
		switch {
		case !strings.HasPrefix(p, "/") || strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(p), "~"):
			f.problem("\"%s[%d]\" is %q, and must be a JSON pointer, like /name", f.at(key), i, p)
		case slices.Contains(list[:i], p):
			f.problem("%q names %q twice", f.at(key), p)
		}
	}
	return list
}
