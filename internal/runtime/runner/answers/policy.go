package answers

import (
	"strings"

	"deployster/protocol"
)

// Severity is how bad a result of a policy is.
type Severity string

// The severities, the worst first.
const (
	Failed  Severity = "error"
	Warned  Severity = "warning"
	Noticed Severity = "info"
)

// PolicyResult is one result of a policy.
type PolicyResult struct {
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Address  string   `json:"address,omitempty"` // of the resource that it is about
	Path     string   `json:"path,omitempty"`    // a JSON pointer into its step, such as /config/x
}

// maxPolicyText is the limit of a message, an address or a path, in bytes.
const maxPolicyText = 10_000

// policy reads the answer to init of an image that judges plans.
func (a initAnswer) policy() { a.ty.Policy = a.alone("policy", "a policy") }

// alone reads the answer to init of an image that has one command next to init, under a key.
func (a initAnswer) alone(name, noun string) *protocol.Command {
	a.ty.Label, a.ty.ConfigSchema, a.ty.NoCache = a.Text("label"), schema(a.Fields, "config_schema"), !a.flag("cache", true)
	p := a.object(name)
	if p == nil {
		return nil
	}
	c := &protocol.Command{Args: p.texts("args")}
	p.Done()
	if len(c.Args) == 0 {
		a.Problem("%q must differ from init: give it \"args\"", name)
	}
	for _, key := range a.keys() {
		if !a.known[key] {
			a.Problem("the key %q does not belong to %s: next to %q an answer has \"label\", \"config_schema\", \"cache\" and \"protocol\"",
				key, noun, name)
		}
	}
	a.Done()
	return c
}

// ReadPolicy parses what a policy answers about a plan.
func ReadPolicy(answer []byte) ([]PolicyResult, error) {
	f, err := ReadFields(answer)
	if err != nil {
		return nil, err
	}
	if !f.has("results") {
		f.Problem("\"results\" is missing; a policy that has no results answers {\"results\": []}")
	}
	list := []PolicyResult{}
	for _, r := range f.objects("results") {
		one := PolicyResult{Severity: Severity(r.needText("severity")), Message: r.needText("message"), Address: r.Text("address"),
			Path: r.Text("path")}
		switch {
		case one.Severity != Failed && one.Severity != Warned && one.Severity != Noticed:
			r.Problem("%q is %q, and must be \"error\", \"warning\" or \"info\"", r.at("severity"), one.Severity)
		case max(len(one.Message), len(one.Address), len(one.Path)) > maxPolicyText:
			r.Problem("%q has a text of more than %d bytes", r.path, maxPolicyText)
		case one.Path != "" && !strings.HasPrefix(one.Path, "/"):
			r.Problem("%q is %q, and must be a JSON pointer, like /config/size", r.at("path"), one.Path)
		}
		r.Done()
		list = append(list, one)
	}
	f.Done()
	if *f.First != nil {
		return nil, *f.First
	}
	return list, nil
}

// Words returns a result as a person reads it.
func (r PolicyResult) Words() string {
	place := r.Address
	if r.Path != "" {
		place = strings.TrimSpace(place + " " + r.Path)
	}
	if place == "" || strings.Contains(r.Message, place) {
		return r.Message
	}
	return place + ": " + r.Message
}
