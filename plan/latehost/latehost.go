package latehost

import (
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/plan/observe"
	"deployster/plan/reason"
	"deployster/state"
)

// Recorded returns, by name, the late hosts that are known with the recorded states: they
// are reached before any image is queried.
func Recorded(m *config.Manifest, prior state.Snapshot) map[string]runner.Host {
	return Known(m, observe.RecordedViews(prior, func(string) observe.View { return observe.View{} }), prior)
}

// Known returns, by name, the late hosts that are known with the states that view gives.
func Known(m *config.Manifest, view func(addr string) observe.View, prior state.Snapshot) map[string]runner.Host {
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
			scope = observe.States(addresses, view, prior)
		}
		if host, open, _, diags := config.LateHost(m, h.Name, scope); !diags.HasErrors() && len(open) == 0 {
			found[h.Name] = host
		}
	}
	return found
}

// WhyUnknown returns why the resources on a host cannot be queried yet; nil = they can. on is the host
// as it was known before any image was queried; nil = this machine.
func WhyUnknown(m *config.Manifest, on *runner.Host, scope func() config.States) (why *reason.Reason, diags diag.Diagnostics) {
	if on == nil {
		return nil, nil
	}
	host, open, late, diags := config.LateHost(m, on.Name, scope())
	switch {
	case !late || diags.HasErrors():
		return nil, diags
	case len(open) > 0:
		return reason.New(reason.HostUnknown, append([]string{on.Name}, open...)...), diags
	case !host.SameWay(*on):
		return reason.New(reason.HostLate, on.Name, host.String()), diags
	}
	return nil, diags
}
