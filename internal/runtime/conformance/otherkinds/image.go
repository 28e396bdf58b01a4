package otherkinds

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	"deployster/internal/base/words"
	"deployster/internal/runtime/conformance/recording"
	"deployster/internal/runtime/notifier"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// Image is an image under test.
type Image struct {
	Client   *typeclient.Client
	Recorder *recording.Recorder // through which the client runs it
	Target   typeclient.Target
	Type     protocol.Type
	Input    protocol.InitInput // the beginning of what it reads
	Config   json.RawMessage
	Timeout  time.Duration // of one notification; 0 = the default
	Learn    func(secret string)
}

// Found is what a test has found.
type Found struct {
	Err    error  // the failure of a run; nil = none
	Wrong  string // "" = nothing
	Fix    string // what the author has to do about both
	Remark string
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

// Judges has an image judge each of the sample plans twice.
func (i Image) Judges(ctx context.Context) Found {
	found := 0
	for _, plan := range samplePlans {
		first, err := i.Client.Judge(ctx, i.Target, i.Type, i.Config, json.RawMessage(plan))
		if err != nil {
			return Found{Err: err, Fix: fixPolicy}
		}
		again, err := i.Client.Judge(ctx, i.Target, i.Type, i.Config, json.RawMessage(plan))
		if err != nil {
			return Found{Err: err, Fix: fixPolicy}
		}
		if !reflect.DeepEqual(first, again) {
			return Found{Wrong: "It answered a second query about the same plan differently.",
				Fix: "Judge by the config and the plan alone."}
		}
		found += len(first)
	}
	return Found{Remark: words.Count(found, "result") + " about sample plans"}
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

// Sends has an image send each of the sample messages.
func (i Image) Sends(ctx context.Context) Found {
	c := notifier.New(notifier.Options{Types: i.Client, Input: i.Input})
	target := notifier.Target{Target: i.Target, Name: i.Target.Address, Config: i.Config, Timeout: i.Timeout}
	for _, message := range sampleMessages {
		if err := c.SendAs(ctx, target, notifier.Kind{Type: i.Type, Digest: i.Target.Digest}, message); err != nil {
			return Found{Err: err, Fix: fixNotify}
		}
	}
	return Found{Remark: words.Count(len(sampleMessages), "message") + " sent"}
}
