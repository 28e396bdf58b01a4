package plan

import (
	"slices"
	"testing"

	"deployster/plan/order"
)

// TestDependantsFirst_FollowsEdgesEitherWay: whichever way an edge leads, what depends on a resource
// comes before it.
func TestDependantsFirst_FollowsEdgesEitherWay(t *testing.T) {
	t.Parallel()
	p := &Plan{Resources: map[string]*Step{"app": {}, "db": {}, "disk": {}, "gone": {}, "left": {}},
		Edges: []Edge{
			{From: "disk", To: "db", Origin: "reference"}, {From: "db", To: "app", Origin: "depends_on"},
			{From: "app", To: "gone", Origin: order.Removal}, {From: "left", To: "gone", Origin: order.Removal},
		}}
	want := []string{"app", "left", "db", "gone", "disk"}
	if got := p.DependantsFirst(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
