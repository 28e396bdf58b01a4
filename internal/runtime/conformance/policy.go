package conformance

import (
	"context"
	"encoding/json"
	"reflect"

	"deployster/internal/base/words"
)

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
