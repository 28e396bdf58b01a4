package apply_test

import "testing"

// An output changes also when only that changes whether its value may be seen: apply
// records it.
func TestOutputs_SensitivityIsAChange(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	const shown, hidden = "output \"o\" {\n  value = 1\n}\n", "output \"o\" {\n  value = 1\n  sensitive = true\n}\n"
	e.do(t, shown)
	for _, c := range []struct {
		source string
		want   bool
	}{{shown, false}, {hidden, true}, {hidden, false}, {shown, true}, {shown, false}} {
		p, err := e.plan(c.source)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Outputs["o"].Changed; got != c.want || p.HasChanges() != c.want {
			t.Errorf("%s: changed %t, in all %t, want %t", c.source, got, p.HasChanges(), c.want)
		}
		e.do(t, c.source)
	}
}
