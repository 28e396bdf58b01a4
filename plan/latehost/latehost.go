package latehost

import (
	"fmt"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"
	"deployster/plan/observe"
	"deployster/state"
)

// Recorded returns, by name, the late hosts that are known with the recorded states: they
// are reached before any image is asked.
func Recorded(m *config.Manifest, prior state.Snapshot) map[string]runner.Host {
	return Known(m, observe.RecordedViews(prior, func(string) observe.View { return observe.View{} }), prior)
}

// Known returns, by name, the late hosts that are known with the states that look gives.
func Known(m *config.Manifest, look func(addr string) observe.View, prior state.Snapshot) map[string]runner.Host {
	var scope config.States
	found := map[string]runner.Host{}
	for _, h := range m.Hosts() {
		if len(h.Late) == 0 {
			continue
		}
		if scope == nil {
			var addresses []string
			for _, r := range m.Resources() {
				addresses = append(addresses, r.Address)
			}
			scope = observe.States(addresses, look, prior)
		}
		if host, open, _, diags := config.LateHost(m, h.Name, scope); !diags.HasErrors() && len(open) == 0 {
			found[h.Name] = host
		}
	}
	return found
}

// Open says why the resources on a host cannot be asked yet; "" = they can. on is the host
// as it was known before any image was asked; nil = this machine.
func Open(m *config.Manifest, on *runner.Host, scope config.States) (why string, diags diag.Diagnostics) {
	if on == nil {
		return "", nil
	}
	host, open, late, diags := config.LateHost(m, on.Name, scope)
	switch {
	case !late || diags.HasErrors():
		return "", diags
	case len(open) > 1:
		return fmt.Sprintf("its host.%s is made of %s, which are known after apply", on.Name, words.List(open, 3)), diags
	case len(open) == 1:
		return fmt.Sprintf("its host.%s is made of %s, which is known after apply", on.Name, open[0]), diags
	case !host.SameWay(*on):
		return fmt.Sprintf("its host.%s is reached as %s now, which was not known when the plan began", on.Name, host), diags
	}
	return "", diags
}
