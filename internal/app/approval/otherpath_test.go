package approval

import (
	"reflect"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/change"
)

func TestOtherPaths_NameDestroysThroughAnotherMount(t *testing.T) {
	t.Parallel()
	world := func(source string) []runner.Mount {
		return []runner.Mount{{Source: source, Target: "/world", Writable: true}}
	}
	for name, c := range map[string]struct {
		step *plan.Step
		want []string
	}{
		"the same place, written otherwise": {&plan.Step{Mounts: world("/here/world"), Part: &change.Destroy{CurrentMounts: world("world")}}, nil},
		"another place": {&plan.Step{Mounts: world("/there/world"), Part: &change.Destroy{CurrentMounts: world("world")}},
			[]string{"a would be removed through /there/world; the plug is /here/world today."}},
		"the old side of a replacement": {&plan.Step{Mounts: world("world"), Part: &change.Replace{
			Old: &plan.Step{Mounts: world("old"), Part: &change.Destroy{CurrentMounts: world("world")}}}},
			[]string{"a would be removed through /here/old; the plug is /here/world today."}},
		"only forgotten": {&plan.Step{Mounts: world("/there/world"), Part: &change.Forget{}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := &plan.Plan{Resources: map[string]*plan.Step{"a": c.step}}
			if got := otherPaths(p, "/here"); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
