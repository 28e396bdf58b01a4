package hosts

import (
	"slices"
	"strconv"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/plan"
)

// The levels of Pod Security that forbid something.
const (
	baseline   = "baseline"
	restricted = "restricted"
)

// relaxedMinor is the minor version of Kubernetes from which the level restricted lets root of a user
// namespace be root.
const relaxedMinor = 35

// refused returns errors for the resources whose Pods their namespaces would refuse, once for each type and
// settings. It leaves out resources that are not selected.
func (f Reached) refused(m *config.Manifest, s plan.Selection) error {
	var diags diag.Diagnostics
	var seen []string
	for _, r := range m.Resources() {
		h := r.Settings.Host
		if !h.InCluster() || slices.Contains(s.Excludes, r.Address) || len(s.Targets) > 0 && !slices.Contains(s.Targets, r.Address) {
			continue
		}
		ns := f.Namespaces[h.Name]
		if ns == nil {
			continue
		}
		forbidden, write := violations(*ns, r.Settings)
		key := h.Name + "\x00" + r.TypeRef + "\x00" + strings.Join(write, "\x00")
		if len(forbidden) == 0 || slices.Contains(seen, key) {
			continue
		}
		seen = append(seen, key)
		d := diag.Errorf("The cluster would refuse a Pod", "On %s the image %s violates PodSecurity \"%s:%s\": %s. In the type block %s.",
			h.Name, r.TypeRef, ns.PodSecurity, versionOf(*ns), strings.Join(forbidden, "; "), strings.Join(write, ", and "))
		d.Address = r.Address
		diags = append(diags, m.Diagnose(d, &r.Range))
	}
	return diags.Err()
}

func versionOf(ns remote.Namespace) string {
	if ns.PodSecurityVersion == "" {
		return "latest"
	}
	return ns.PodSecurityVersion
}

// violations returns what the level of a namespace forbids of Pods with settings, and what to do about it.
func violations(ns remote.Namespace, s runner.Settings) (forbidden, write []string) {
	allowed := append(runner.DefaultCapabilities(), "MKNOD")
	if ns.PodSecurity == restricted {
		allowed = []string{"NET_BIND_SERVICE"}
	}
	more := slices.DeleteFunc(s.Capabilities.Effective(), func(name string) bool { return slices.Contains(allowed, name) })
	switch {
	case ns.PodSecurity != baseline && ns.PodSecurity != restricted:
		return nil, nil
	case len(more) > 0 && ns.PodSecurity == restricted && len(s.Capabilities.Added()) == 0:
		forbidden, write = append(forbidden, "unrestricted capabilities ("+words.All(more)+")"),
			append(write, `write capabilities { drop = ["ALL"] }`)
	case len(more) > 0:
		forbidden, write = append(forbidden, "capabilities ("+words.All(more)+")"), append(write, "take these capabilities away")
	}
	if uid, _, _ := strings.Cut(s.User, ":"); ns.PodSecurity == baseline || strings.Trim(uid, "0") != "" {
		return forbidden, write
	}
	relaxed := minorOf(ns.PodSecurityVersion) >= relaxedMinor
	switch {
	case relaxed && s.UserNS == runner.AutoUserNS:
	case relaxed:
		forbidden, write = append(forbidden, "its user may be root"), append(write, `write userns = "auto", or user = "UID"`)
	default:
		forbidden, write = append(forbidden, "its user may be root"), append(write, `write user = "UID", a number`)
	}
	return forbidden, write
}

// minorOf returns the minor version of a policy, as in v1.34; that of the latest one is greater than all.
func minorOf(version string) int {
	_, minor, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(minor); err == nil {
		return n
	}
	return 1 << 20
}
