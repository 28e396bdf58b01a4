package podspec

import (
	"fmt"
	"strconv"
	"strings"

	core "k8s.io/api/core/v1"

	"deployster/internal/runtime/runner"
)

// agentUser is the user of the init container.
const agentUser = 65532

// agentSecurity returns what the init container may do.
func agentSecurity() *core.SecurityContext {
	no, yes, user := false, true, int64(agentUser)
	return &core.SecurityContext{AllowPrivilegeEscalation: &no, RunAsNonRoot: &yes, RunAsUser: &user, RunAsGroup: &user,
		ReadOnlyRootFilesystem: &yes, Capabilities: &core.Capabilities{Drop: []core.Capability{runner.AllCapabilities}}}
}

// security returns what the container of a type may do, and what holds for the whole Pod. No
// profile of AppArmor is named: then runtimes use their default where the node has AppArmor, and
// a node without it does not refuse the Pod.
func security(s runner.Settings) (*core.SecurityContext, *core.PodSecurityContext, error) {
	no := false
	c := &core.SecurityContext{AllowPrivilegeEscalation: &no,
		Capabilities: &core.Capabilities{Drop: []core.Capability{runner.AllCapabilities}}}
	for _, name := range s.Capabilities.Effective() {
		c.Capabilities.Add = append(c.Capabilities.Add, core.Capability(name))
	}
	if s.ReadOnlyRootFS {
		yes := true
		c.ReadOnlyRootFilesystem = &yes
	}
	var err error
	if c.RunAsUser, c.RunAsGroup, err = numbers(s.User); err != nil {
		return nil, nil, err
	}
	if c.RunAsUser != nil && *c.RunAsUser != 0 {
		yes := true
		c.RunAsNonRoot = &yes
	}
	return c, &core.PodSecurityContext{SeccompProfile: &core.SeccompProfile{Type: core.SeccompProfileTypeRuntimeDefault}}, nil
}

// numbers returns the user and the group that a type's user names; nil = the image's own.
func numbers(user string) (uid, gid *int64, err error) {
	if user == "" {
		return nil, nil, nil
	}
	name, group, grouped := strings.Cut(user, ":")
	number := func(text string) *int64 {
		n, failed := strconv.ParseInt(text, 10, 64)
		if failed != nil || n < 0 {
			err = fmt.Errorf("the user %q has a name, and a Pod can only have a user by number: write user = \"UID\" or \"UID:GID\"", user)
		}
		return &n
	}
	uid = number(name)
	if grouped {
		gid = number(group)
	}
	return uid, gid, err
}
