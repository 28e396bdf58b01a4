package approval

import (
	"context"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/state"
)

// The plan that is to be saved is the one that nobody said yes to.
func TestNobody_NamesThePlanToSave(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Selection: plan.Selection{Destroy: true, Targets: []string{`a["k"]`}, Excludes: []string{"b"}}}
	err := Approval{}.nobody(p, nil)
	if want := "`deployster plan -destroy '-target=a[\"k\"]' -exclude=b -out=plan.bin`"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// asker is a person who answers no, and keeps the question.
type asker struct{ question string }

func (a *asker) Printf(string, ...any) {}

func (a *asker) Confirm(_ context.Context, question string, _ bool) (bool, error) {
	a.question = question
	return false, nil
}

func (a *asker) Question(context.Context, apply.Question) (apply.Answer, error) { return apply.No, nil }

// A person is asked with the number of what deployster did not create and would destroy.
func TestApprove_CountsWhatDeploysterDidNotCreate(t *testing.T) {
	t.Parallel()
	for adopted, want := range map[int]string{0: "Apply this plan?", 2: "Not created by deployster, and destroyed by this plan: 2.\nApply this plan?"} {
		p := &plan.Plan{Summary: plan.Summary{Destroy: 3, DestroyAdopted: adopted}}
		var person asker
		err := Approval{ask: true}.Approve(t.Context(), &person, p, state.Snapshot{}, ".", &apply.Options{})
		if err == nil || person.question != want {
			t.Errorf("%q, %v", person.question, err)
		}
	}
}
