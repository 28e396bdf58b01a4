package identity_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/apply"
	"deployster/internal/testkit/identity"
	"deployster/plan"
)

// things are what the pairs of manifests are about.
const things = 30

// arrange declares most of the things, in blocks, lists and maps that are drawn anew, in
// the root and in two modules: half of the types say their identity as the id, the
// other half as id and region.
func arrange(r *rand.Rand) (files map[string]string, ids []int) {
	files = map[string]string{}
	text := map[string]*strings.Builder{"main.hcl": {}, "m/main.hcl": {}, "n/main.hcl": {}}
	text["main.hcl"].WriteString("module \"m\" {\n  source = \"./m\"\n}\nmodule \"n\" {\n  source = \"./n\"\n}\n")
	order := r.Perm(things)
	ids = slices.Clone(order[:r.IntN(things)+1])
	names := r.Perm(2 * things)
	for open := ids; len(open) > 0; {
		some := open[:min(len(open), 1+r.IntN(4))]
		open = open[len(some):]
		even, odd := split(some)
		for i, group := range [][]int{even, odd} {
			if len(group) == 0 {
				continue
			}
			name := fmt.Sprintf("r%d", names[0])
			names = names[1:]
			b := text[[]string{"main.hcl", "m/main.hcl", "n/main.hcl"}[r.IntN(3)]]
			b.WriteString(arranged(r, name, reference(identity.ByIdentity, 1+i), group))
		}
	}
	for path, b := range text {
		files[path] = b.String()
	}
	slices.Sort(ids)
	return files, ids
}

// split tells the things of one type from those of the other.
func split(ids []int) (even, odd []int) {
	for _, id := range ids {
		if id%2 == 0 {
			even = append(even, id)
		} else {
			odd = append(odd, id)
		}
	}
	return even, odd
}

// arranged declares things of one type, in one block or in several.
func arranged(r *rand.Rand, name, image string, ids []int) string {
	d, v := ours(), fmt.Sprint(1+r.IntN(2))
	switch {
	case len(ids) == 1:
		return d.block(name, "", image, fmt.Sprint(ids[0]), v)
	case r.IntN(2) == 0:
		return d.block(name, fmt.Sprintf("count = %d", len(ids)), image, tuple(ids)+"[count.index]", v)
	}
	var keys []string
	for i, id := range ids {
		keys = append(keys, fmt.Sprintf("k%d = %d", i+r.IntN(3)*10, id))
	}
	return d.block(name, "for_each = { "+strings.Join(keys, ", ")+" }", image, "each.value", v)
}

// TestEngine_RandomPairs applies a manifest over thirty things, and then another one:
// all that is declared is there then and nothing else, nothing that both declare was
// destroyed, and the next plan is empty.
func TestEngine_RandomPairs(t *testing.T) {
	t.Parallel()
	began, count := time.Now(), number(t, "DEPLOYSTER_PAIRS", 25)
	for seed := range count {
		dir, err := os.MkdirTemp(memoryDir(), "pairs-")
		if err == nil {
			err = pairOf(t, dir, uint64(seed))
		}
		if removed := os.RemoveAll(dir); err == nil {
			err = removed
		}
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	t.Logf("%d pairs in %s", count, time.Since(began).Round(time.Millisecond))
}

// pairOf applies the two manifests of a seed.
func pairOf(t *testing.T, dir string, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 30))
	world := identity.NewWorld()
	l, err := newLab(dir, world)
	if err != nil {
		return err
	}
	var before, after []int
	births := map[identity.Key]int{}
	for _, list := range []*[]int{&before, &after} {
		for k, thing := range world.Things {
			births[k] = thing.Birth
		}
		var files map[string]string
		if files, *list = arrange(r); err == nil {
			err = l.declare(files)
		}
		if err != nil {
			return err
		}
		if _, err := l.plan(t.Context(), plan.Selection{}, 4); err != nil {
			return err
		}
		report, err := l.apply(t.Context(), 4)
		if err != nil || report.Status != apply.OK {
			return fmt.Errorf("apply: %v, %v", err, report)
		}
	}
	if len(world.Things) != len(after) {
		return fmt.Errorf("%d things are there, %d are declared", len(world.Things), len(after))
	}
	for _, id := range after {
		k := identity.KeyOf(identity.ByIdentity, "", identity.Config{ID: id})
		switch thing := world.Things[k]; {
		case thing == nil:
			return fmt.Errorf("%d is declared, and not there", id)
		case slices.Contains(before, id) && thing.Birth != births[k]:
			return fmt.Errorf("%d was declared all along, and destroyed", id)
		}
	}
	p, err := l.plan(t.Context(), plan.Selection{}, 4)
	if err == nil && p.HasChanges() {
		err = fmt.Errorf("the next plan is not empty: %s", shown(p))
	}
	return err
}
