package render

import (
	"strings"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/internal/ui/paint"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/plan/explain"
	"deployster/plan/inputs"
	"deployster/protocol"
	"deployster/state"
)

func TestWriteReasons_CountsTheOthers(t *testing.T) {
	t.Parallel()
	for more, want := range map[int]string{1: "and 1 more reason\n", 2: "and 2 more reasons\n"} {
		var b strings.Builder
		writeReasons(&b, &explain.Explanation{Step: &plan.Step{Part: &change.Update{Answer: change.Answer{Reasons: make([]protocol.Reason,
			maxExplained+more)}}}}, Options{})
		if !strings.HasSuffix(b.String(), want) {
			t.Errorf("%d more: %q", more, b.String())
		}
	}
}

// An explanation does not contradict the plan: only of what has drifted it says that it was
// changed outside of deployster, and other causes are named.
func TestExplain_OfChangedInputs(t *testing.T) {
	t.Parallel()
	const outside = "outside of deployster"
	prior := state.Entry{Config: []byte(`{}`), State: []byte(`{"v":1}`), Settings: runner.Settings{Env: map[string]string{"A": "1"}}}
	for name, c := range map[string]struct {
		step       plan.Step
		want, none []string
	}{
		"drift": {plan.Step{Part: &change.Update{Answer: change.Answer{Stale: []byte(`{"v":2}`)}, Since: change.Since{Drifted: true}}},
			[]string{"changed outside of deployster since the last apply", "Changed outside of deployster since the last apply:"}, nil},
		"drift, and the same state": {plan.Step{Part: &change.Update{Answer: change.Answer{Stale: []byte(`{"v":1}`)},
			Since: change.Since{Drifted: true}}},
			[]string{"changed outside of deployster since the last apply", "its image does not accept that any more"}, []string{"Nothing was changed"}},
		"another env": {plan.Step{Part: &change.Update{Answer: change.Answer{Stale: []byte(`{"v":2}`)},
			Since: change.Since{Inputs: []inputs.Change{{What: inputs.Env, Names: []string{"A"}}}}}},
			[]string{"    changed since the last apply: env A\n", "  Changed since the last apply: env A.\n", "Its state is not the recorded one:"}, []string{outside}},
		"a pending notification": {plan.Step{Part: &change.Update{Answer: change.Answer{Stale: []byte(`{"v":1}`)},
			Since: change.Since{Inputs: []inputs.Change{{What: inputs.Pending, Names: []string{"conf"}}}}}},
			[]string{"Conf, to which it subscribes, was acted on", "Its state is the recorded one."}, []string{outside}},
		"gone, with another network": {plan.Step{Part: &change.Create{Since: change.Since{Inputs: []inputs.Change{{What: inputs.Setting,
			Names: []string{"network"}}}}}},
			[]string{"setting network", "It does not exist any more."}, []string{outside}},
		"an unfinished apply": {plan.Step{Part: &change.Update{Answer: change.Answer{Stale: []byte(`{"v":2}`)},
			Since: change.Since{Drifted: true, Inputs: []inputs.Change{{What: inputs.Unfinished}}}}},
			[]string{"an apply began to change it and did not finish"}, []string{outside}},
	} {
		c.step.Config = []byte(`{}`)
		text := paint.Colors(Explain(&explain.Explanation{Address: "a", Step: &c.step, Prior: &prior}, Options{}), false)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, text)
			}
		}
		for _, none := range c.none {
			if strings.Contains(text, none) {
				t.Errorf("%s: %q is in\n%s", name, none, text)
			}
		}
	}
}
