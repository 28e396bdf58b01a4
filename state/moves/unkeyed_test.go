package moves

import "testing"

func TestUnkeyed_OmitsKeys(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{"a": "a", `module.web["a.b"].node[0]`: "module.web.node", `a["]\"[.b"].c`: "a.c", "": ""} {
		got, last := "", -1
		for i, c := range Unkeyed(addr) {
			if got, last = got+string(c), i; addr[i] != c {
				t.Errorf("%s has %q at %d, got %q", addr, addr[i], i, c)
			}
		}
		if got != want || last >= len(addr) {
			t.Errorf("%s: got %q, want %q", addr, got, want)
		}
	}
}
