package podspec

import (
	"fmt"
	"slices"

	core "k8s.io/api/core/v1"

	"deployster/internal/runtime/runner"
)

// Compare returns a *runner.StartError if the Pod that the API server returned has another image than the
// Pod that was sent, or may do more. Injected containers and volumes are allowed: Compare returns their names.
func Compare(sent, got *core.Pod) (injected []string, err error) {
	changed := func(format string, a ...any) ([]string, error) {
		return nil, &runner.StartError{Fault: runner.PodChanged, Text: fmt.Sprintf(format, a...)}
	}
	switch s := got.Spec; {
	case s.HostNetwork:
		return changed("it has the network of the node")
	case s.HostPID:
		return changed("it sees the processes of the node")
	case s.HostIPC:
		return changed("it shares memory with processes of the node")
	case sent.Spec.HostUsers != nil && !*sent.Spec.HostUsers && (s.HostUsers == nil || *s.HostUsers):
		return changed("it has no user namespace of its own")
	case s.ShareProcessNamespace != nil && *s.ShareProcessNamespace:
		return changed("its containers see the processes of each other")
	case !*sent.Spec.AutomountServiceAccountToken && (s.AutomountServiceAccountToken == nil || *s.AutomountServiceAccountToken):
		return changed("it has the token of a service account")
	case s.RestartPolicy != core.RestartPolicyNever:
		return changed("its restartPolicy is %s", s.RestartPolicy)
	}
	for _, v := range got.Spec.Volumes {
		if v.HostPath != nil {
			return changed("the volume %s is the path %s of the node", v.Name, v.HostPath.Path)
		}
		if !slices.ContainsFunc(sent.Spec.Volumes, func(o core.Volume) bool { return o.Name == v.Name }) {
			injected = append(injected, "volume "+v.Name)
		}
	}
	ours := slices.Concat(sent.Spec.InitContainers, sent.Spec.Containers)
	theirs := slices.Concat(got.Spec.InitContainers, got.Spec.Containers)
	for _, c := range ours {
		i := slices.IndexFunc(theirs, func(o core.Container) bool { return o.Name == c.Name })
		if i < 0 {
			return changed("the container %s was removed", c.Name)
		}
		if what := weaker(c, theirs[i]); what != "" {
			return changed("the container %s %s", c.Name, what)
		}
	}
	for _, c := range theirs {
		if slices.ContainsFunc(ours, func(o core.Container) bool { return o.Name == c.Name }) {
			continue
		}
		if c.SecurityContext != nil && c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged {
			return changed("the container %s is privileged", c.Name)
		}
		injected = append(injected, "container "+c.Name)
	}
	return injected, nil
}

// weaker returns in what a container may do more than the one that was sent, or is another; "" = in nothing.
func weaker(sent, got core.Container) string {
	if sent.Image != got.Image {
		return fmt.Sprintf("has the image %s, and not %s", got.Image, sent.Image)
	}
	if !slices.Equal(sent.Command, got.Command) || !slices.Equal(sent.Args, got.Args) {
		return "runs another command"
	}
	c := got.SecurityContext
	if c == nil {
		return "has no securityContext any more"
	}
	switch {
	case c.Privileged != nil && *c.Privileged:
		return "is privileged"
	case c.AllowPrivilegeEscalation == nil || *c.AllowPrivilegeEscalation:
		return "may get new privileges"
	case c.Capabilities == nil || !slices.Contains(c.Capabilities.Drop, "ALL"):
		return "keeps capabilities"
	case c.ProcMount != nil && *c.ProcMount != core.DefaultProcMount:
		return "sees all of /proc"
	case sent.SecurityContext.ReadOnlyRootFilesystem != nil && (c.ReadOnlyRootFilesystem == nil || !*c.ReadOnlyRootFilesystem):
		return "has a writable root file system"
	}
	for _, name := range c.Capabilities.Add {
		if !slices.Contains(sent.SecurityContext.Capabilities.Add, name) {
			return fmt.Sprintf("has the capability %s", name)
		}
	}
	for _, user := range [][2]*int64{{sent.SecurityContext.RunAsUser, c.RunAsUser}, {sent.SecurityContext.RunAsGroup, c.RunAsGroup}} {
		if user[0] != nil && (user[1] == nil || *user[1] != *user[0]) {
			return "has another user"
		}
	}
	return ""
}
