package artifacts

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/words"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/artifacts"
	"deployster/protocol"
	"deployster/state/actions"
)

// Published is the state of a publish.
type Published struct {
	Space    string            `json:"space"`
	Version  map[string]string `json:"version"`
	Metadata map[string]string `json:"metadata"`
	Created  []placed          `json:"created"`
	Deleted  []placed          `json:"deleted"`
	Tree     string            `json:"tree,omitempty"` // the hash of the files that were fetched
}

type placed struct {
	Space   string           `json:"space"`
	Version artifact.Version `json:"version"`
}

// target returns how to run the image of a publish.
func target(t typeclient.Target) artifact.Target {
	return artifact.Target{Address: t.Address, Reference: t.Reference, Digest: t.Digest, Settings: t.Settings, Pull: t.Pull,
		Verify:     t.Verify,
		PutTimeout: t.ActionTimeout}
}

// describe returns the type of a publish for the engine: one without a schema.
func (f *Client) describe(ctx context.Context, t typeclient.Target) (protocol.Type, error) {
	info, err := f.o.Client.Info(ctx, target(t))
	if err != nil {
		return protocol.Type{}, err
	}
	if !info.CanPut() {
		return protocol.Type{}, &diag.Diagnostic{Severity: diag.Error, Summary: "The image cannot publish", Address: t.Address,
			Action: "info",
			Detail: fmt.Sprintf("Image %s has no put: it can be used by artifact blocks only.", diag.Visible(t.Reference))}
	}
	if r := f.publishes[t.Address]; r != nil {
		for _, in := range r.Publish.Inputs {
			if err := f.allowed(r, in); err != nil {
				return protocol.Type{}, err
			}
		}
	}
	return protocol.Type{Reference: t.Reference, Digest: info.Digest, Protocol: 2, Label: string(info.Protocol)}, nil
}

// putAction is the one action of a publish.
var putAction = protocol.Action{Name: artifact.StepPut, Description: "publish"}

// decide reports whether a publish is valid. Only the state can report it, because a put is an
// event that leaves no state to query.
func (f *Client) decide(ctx context.Context, t typeclient.Target, in protocol.StateInput) (protocol.Answer, error) {
	f.mu.Lock()
	made, done := f.made[t.Address]
	f.mu.Unlock()
	if done {
		return protocol.Answer{Status: protocol.Valid, State: made}, nil
	}
	again := func(why string) (protocol.Answer, error) {
		return protocol.Answer{Status: protocol.Missing, Actions: []protocol.Action{putAction},
			Reasons: []protocol.Reason{{Message: why}}}, nil
	}
	u := f.o.Prior.Unsettled[t.Address].Begun()
	unsettled := u.Put != nil && len(u.Actions) > 0
	switch { // a put that was not begun has not changed what was put before
	case unsettled && (!u.Put.NotBegun || in.LastState == nil):
		state, why, err := f.lastPut(ctx, t, in, u)
		if err != nil || state == nil {
			if err != nil {
				return protocol.Answer{}, err
			}
			return again(why)
		}
		return protocol.Answer{Status: protocol.Valid, State: state}, nil
	case slices.Contains(f.o.Again, t.Address):
		return again("-replace names it")
	case in.LastState == nil:
		return again("nothing is recorded of a put: if it was published before, it is published again")
	case in.LastConfig == nil || f.same(t.Address, in.LastConfig, in.Config):
		state, err := f.stillFetched(ctx, t, in)
		return protocol.Answer{Status: protocol.Valid, State: state}, err
	}
	return again(changed(in.LastConfig, in.Config))
}

// changed reports how two configs of a publish differ: it names the inputs with another
// version, or only reports that they differ. The diff shows the rest.
func changed(was, now json.RawMessage) string {
	before, _ := jsondoc.Object(member(was, "inputs")) // both are configs of the engine
	after, _ := jsondoc.Object(member(now, "inputs"))
	var moved []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if before[name] != nil && !jsondoc.Same(member(before[name], "version"), member(after[name], "version")) {
			moved = append(moved, "inputs."+name)
		}
	}
	switch len(moved) {
	case 0:
		return "what it is made of has changed"
	case 1:
		return "because " + moved[0] + " is another version"
	}
	return "because " + words.List(moved, 5) + " are other versions"
}

// same reports whether two configs mean the same put: a change of a password publishes nothing.
func (f *Client) same(addr string, was, now json.RawMessage) bool {
	var hidden []string
	if r := f.publishes[addr]; r != nil {
		for _, pointer := range f.declared[r.Publish.Artifact].Source.Sensitive {
			hidden = append(hidden, "/source"+pointer)
		}
	}
	return artifacts.SamePut(was, now, hidden)
}

// lastPut finds out what became of a put whose end was not observed: it returns the state
// that the put led to, or why to put again.
func (f *Client) lastPut(ctx context.Context, t typeclient.Target, in protocol.StateInput, u actions.Unsettled) (made json.RawMessage,
	why string, err error) {
	last, put := u.Actions[len(u.Actions)-1], u.Put
	switch {
	case last.Said == actions.Failed:
		return nil, "a user recorded that the last put failed", nil
	case put.NotBegun:
		return nil, "the last put was not started", nil
	case last.Exit != nil && *last.Exit != 0:
		why := fmt.Sprintf("the last put ended with exit code %d", *last.Exit)
		if put.Info.Protocol == artifact.Concourse1 {
			why += "; it may have published all the same"
		}
		return nil, why, nil
	case !f.same(t.Address, put.Config, in.Config) && (last.Exit != nil || f.repeatable(t, put.Info)):
		return nil, "what it is made of has changed since the last put", nil
	case last.Said == actions.Done:
		made, err := f.newest(ctx, t, put, in.LastState)
		return made, "", err
	case last.Exit != nil && put.Answer != nil:
		made, err := f.finish(ctx, t, put.Info, put.Config, *put.Answer, in.LastState)
		return made, "", err
	case f.repeatable(t, put.Info):
		return nil, "put again: the outcome of the last one is unknown, and it may be repeated", nil
	}
	return nil, "", f.unknown(ctx, t, put, last, in)
}

// repeatable reports whether a put may be run twice.
func (f *Client) repeatable(t typeclient.Target, info artifact.Info) bool {
	r := f.publishes[t.Address]
	return info.Protocol == artifact.Artifacts2 || r != nil && r.Publish.Idempotent
}

// unknown is the error about a put whose end is unknown, with the versions that its image lists as evidence.
func (f *Client) unknown(ctx context.Context, t typeclient.Target, put *actions.Put, last actions.Attempt, in protocol.StateInput) error {
	evidence := "Its image lists no version."
	input := artifact.CheckInput{Source: member(put.Config, "source"), Fresh: true}
	var before Published
	if json.Unmarshal(in.LastState, &before) == nil && len(before.Version) > 0 {
		input.From = map[string]artifact.Version{before.Space: before.Version}
	}
	input.Space = f.space(t.Address, in.LastState)
	c, err := f.o.Client.Check(ctx, target(t), put.Info, input)
	switch {
	case err != nil:
		evidence = "Its image failed to list the versions: " + strings.TrimSuffix(firstLine(err), ".") + "."
	case len(c.Newest) > 0:
		var names []string
		for _, v := range c.Newest[max(0, len(c.Newest)-5):] {
			names = append(names, diag.Visible(v.Version.String()))
		}
		evidence = "The newest versions that its image lists now: " + strings.Join(names, ", ") + "."
		if len(before.Version) > 0 {
			evidence += " Published last, as far as is recorded: " + diag.Visible(artifact.Version(before.Version).String()) + "."
		}
	}
	return &diag.Diagnostic{Severity: diag.Error, Summary: "The outcome of a put is unknown", Address: t.Address, Action: artifact.StepPut,
		Detail: fmt.Sprintf("It was started at %s, and its end was not seen. Another put might publish twice. %s Check whether it was "+
			"published: `deployster resolve -as=done '%s'` records that it was, and -as=failed lets it be put again. With idempotent = "+
			"true in the block it is put again by itself.",
			last.Started.Local().Format(time.DateTime), evidence, t.Address)}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return diag.Visible(line)
}

// space returns the space that a publish puts into, as far as it is known: that of its
// artifact block, or else that of the last put.
func (f *Client) space(addr string, last json.RawMessage) string {
	var before Published
	if json.Unmarshal(last, &before) != nil {
		before.Space = ""
	}
	if r := f.publishes[addr]; r != nil {
		return cmp.Or(f.declared[r.Publish.Artifact].Space, before.Space)
	}
	return before.Space
}

// newest returns the state of a publish whose put a person has resolved as done: with the
// newest version of its space.
func (f *Client) newest(ctx context.Context, t typeclient.Target, put *actions.Put, last json.RawMessage) (json.RawMessage, error) {
	c, err := f.o.Client.Check(ctx, target(t), put.Info, artifact.CheckInput{Source: member(put.Config, "source"), Fresh: true,
		Space: f.space(t.Address, last)})
	if err != nil {
		return nil, err
	}
	v, found := c.Found()
	if !found {
		return nil, &diag.Diagnostic{Severity: diag.Error, Summary: "Nothing was published", Address: t.Address, Action: artifact.StepCheck,
			Detail: "A user recorded that its put ended well, and its image lists no version. `deployster resolve -as=failed " +
				"'" + t.Address +
				"'` puts again."}
	}
	return f.fetched(ctx, t, put.Info, put.Config, Published{Space: v.Space, Version: v.Version, Metadata: v.Metadata.Map(),
		Created: []placed{{v.Space, v.Version}}, Deleted: []placed{}})
}

func encode(p Published) (json.RawMessage, error) {
	if p.Version == nil {
		p.Version = map[string]string{}
	}
	if p.Metadata == nil {
		p.Metadata = map[string]string{}
	}
	return jsondoc.Encode(p)
}

// member returns an object in a config, or an empty one.
func member(config json.RawMessage, name string) json.RawMessage {
	members, err := jsondoc.Object(config)
	if err != nil || members[name] == nil {
		return json.RawMessage("{}")
	}
	return members[name]
}
