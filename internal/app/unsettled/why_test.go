package unsettled

import (
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/state/actions"
)

// Where another machine had begun an action, that is why its end is not known; of one on a
// host it is what the host says, or that it cannot be reached.
func TestWhyUnknown_NamesTheOtherMachineOrTheHost(t *testing.T) {
	t.Parallel()
	other, web := actions.By{Host: "ci-7", Boot: "b"}, &runner.Host{Name: "web"}
	if got := whyUnknown(other, nil, "no route"); got != "it was started on another machine, ci-7" {
		t.Error(got)
	}
	if got := whyUnknown(other, web, "no route"); got != "no route" {
		t.Errorf("on a host: %s", got)
	}
	if got := whyUnknown(actions.By{}, nil, "no trace"); got != "no trace" {
		t.Errorf("of nobody: %s", got)
	}
}
