package conformance

import (
	"context"
	"encoding/json"
	"reflect"

	"deployster/internal/base/words"
	"deployster/internal/runtime/conformance/report"
	"deployster/internal/runtime/notifier"
	"deployster/protocol"
)

// otherCheck is a check of an image that is not a resource type.
type otherCheck struct {
	name string
	run  func(context.Context) outcome
}

// otherThanType lists the checks of a policy or of an image that sends notifications; none for a resource type.
func (i *image) otherThanType() []otherCheck {
	switch {
	case i.ty.Policy != nil:
		return []otherCheck{{report.CheckPolicy, func(ctx context.Context) outcome { return judges(ctx, i) }}}
	case i.ty.Notify != nil:
		return []otherCheck{{report.CheckNotify, func(ctx context.Context) outcome { return sends(ctx, i) }}}
	}
	return nil
}

const fixPolicy = "Read one JSON object from stdin, with the \"config\" and the \"plan\", and print {\"results\": [...]}, each result " +
	"with " +
	"a severity and a message. docs/policy.md, section Policies as images."

// samplePlans are plans as policies get them: of nothing, and of one resource that is created. Each has a key that no image knows.
var samplePlans = [...]string{
	`{"format":3,"created":"2026-01-02T03:04:05Z","resources":{},"summary":{"create":0},"outputs":{},"deployster_no_such_key":1}`,
	`{"format":3,"created":"2026-01-02T03:04:05Z","resources":{"web":{"type":"acme/vm:1","config":{"size":1},"change":"create",` +
		`"create":{"actions":[{"name":"create","args":["create"]}]}}},"summary":{"create":1},"outputs":{},"deployster_no_such_key":1}`,
}

// judges has an image judge each of the sample plans twice.
func judges(ctx context.Context, i *image) outcome {
	found := 0
	for _, plan := range samplePlans {
		first, err := i.client("").Judge(ctx, i.target, i.ty, i.o.Config, json.RawMessage(plan))
		if err != nil {
			return failWith(fixPolicy, err)
		}
		again, err := i.client("").Judge(ctx, i.target, i.ty, i.o.Config, json.RawMessage(plan))
		if err != nil {
			return failWith(fixPolicy, err)
		}
		if !reflect.DeepEqual(first, again) {
			return fail("Judge by the config and the plan alone.", "It answered a second query about the same plan differently.")
		}
		found += len(first)
	}
	return pass("%s about sample plans", words.Count(found, "result"))
}

const fixNotify = "Read one JSON object from stdin, with the \"config\", an \"event\" and its \"summary\", send it, and end with " +
	"exit code 0. Ignore keys and events that are not known. docs/protocol.md, section Notifications."

// sampleMessages are notifications as images get them, each with a key that no image knows: the end of an apply, and a kind
// of event that does not exist yet.
var sampleMessages = [...]notifier.Message{
	{Summary: "This is a test: the apply succeeded.\nResources: 1 created.", Event: json.RawMessage(
		`{"type":"report","time":"2026-01-02T03:04:05Z","level":"info","message":"This is a test: the apply ended: ok",` +
			`"report":{"format":2,"status":"ok","resources":{}},"deployster_no_such_key":1}`)},
	{Summary: "This is a test of an event that is not known.", Event: json.RawMessage(
		`{"type":"deployster_no_such_event","time":"2026-01-02T03:04:05Z","message":"This is a test."}`)},
}

// sends has an image send each of the sample messages.
func sends(ctx context.Context, i *image) outcome {
	c := notifier.New(notifier.Options{Types: i.client(""), Input: protocol.InitInput{Version: i.o.Version, Verbose: i.o.Verbose,
		Protocol: protocol.Versions{Min: protocol.MinVersion, Max: protocol.MaxVersion}}})
	target := notifier.Target{Target: i.target, Name: i.o.Name, Config: i.o.Config, Timeout: i.o.Timeout}
	for _, message := range sampleMessages {
		if err := c.SendAs(ctx, target, notifier.Kind{Type: i.ty, Digest: i.target.Digest}, message); err != nil {
			return failWith(fixNotify, err)
		}
	}
	return pass("%s sent", words.Count(len(sampleMessages), "message"))
}
