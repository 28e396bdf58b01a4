package plan

import "testing"

// What has lost its address is told the name that it was made with.
func TestTarget_NameOfWhatIsDeposed(t *testing.T) {
	t.Parallel()
	for addr, name := range map[string]string{"s[0]": "s[0]", "s[0] (deposed 2)": "s[0]"} {
		if target := (&Step{}).Target(addr); target.Name != name || target.Address != addr {
			t.Errorf("%s: %q, called %q", addr, target.Address, target.Name)
		}
	}
}
