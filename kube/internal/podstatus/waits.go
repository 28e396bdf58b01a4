package podstatus

import (
	"fmt"
	"slices"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"deployster/internal/runtime/runner"
	"deployster/kube/internal/podspec"
)

// PullPatience is how long the pull of an image may fail before it is an error: a registry may be slow.
const PullPatience = time.Minute

// Refused returns the error for a Pod that the API server refuses, or the reason to wait if the request may succeed
// later. Both are empty if the request has failed otherwise.
func Refused(err error) (why string, failure error) {
	text := err.Error()
	switch {
	case apierrors.IsForbidden(err) && strings.Contains(text, "exceeded quota"):
		_, quota, _ := strings.Cut(text, "exceeded quota")
		return "exceeded quota" + quota, nil
	case apierrors.IsForbidden(err) && strings.Contains(text, "violates PodSecurity"):
		_, rule, _ := strings.Cut(text, "violates PodSecurity")
		return "", &runner.StartError{Fault: runner.PodRefused, Text: "it violates PodSecurity" + rule}
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsMethodNotSupported(err):
		return "", &runner.StartError{Fault: runner.PodRefused, Text: text}
	}
	return "", nil
}

// Start follows a Pod from its creation until it runs.
type Start struct {
	failing time.Time // since when its images cannot be pulled; zero = they can
	pull    string    // why
}

// Reason is why a Pod does not run yet.
type Reason struct {
	Text  string
	Usual bool // each Pod waits so for a while
	Taken bool // another Pod has a claim that only one may have at a time, or on one node
}

// Waits returns whether a Pod runs, and otherwise why not. events are the messages of the kubelet and
// the scheduler about it, the latest one last. The error is a *runner.StartError: waiting mends nothing.
func (s *Start) Waits(p *core.Pod, events []core.Event, now time.Time) (runs bool, why Reason, err error) {
	if state := stateOf(p.Status.ContainerStatuses, podspec.Container); state.Running != nil && p.DeletionTimestamp == nil {
		return true, why, nil
	}
	if p.DeletionTimestamp != nil || p.Status.Phase == core.PodFailed || p.Status.Phase == core.PodSucceeded {
		return false, why, &runner.StartError{Fault: runner.NotStarted, Text: p.Name + " " + EndOf(p).Why}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == core.PodScheduled && c.Status == core.ConditionFalse {
			if c.Reason == core.PodReasonUnschedulable {
				return false, Reason{Text: c.Message, Taken: strings.Contains(c.Message, string(core.ReadWriteOncePod))}, nil
			}
			return false, Reason{Text: strings.TrimSuffix(c.Reason+": "+c.Message, ": ")}, nil
		}
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if !podspec.IsOurs(c.Name) {
			continue
		}
		if t := c.State.Terminated; c.Name != podspec.Container && t != nil && t.ExitCode != 0 {
			what := "files of an artifact were not received"
			if c.Name == podspec.Agent {
				what = "its agent could not be copied"
			}
			return false, why, &runner.StartError{Fault: runner.NotStarted,
				Text: strings.TrimSpace(fmt.Sprintf("%s (exit code %d) %s", what, t.ExitCode, t.Message))}
		}
		if c.State.Waiting == nil {
			continue
		}
		if text, err := s.waiting(p, c, now); text != "" || err != nil {
			return false, Reason{Text: text}, err
		}
	}
	return false, latest(p, events), nil
}

// waiting reads the state of a container that waits; "" and nil = it has nothing more than that.
func (s *Start) waiting(p *core.Pod, c core.ContainerStatus, now time.Time) (why string, err error) {
	w := c.State.Waiting
	switch w.Reason {
	case "ErrImagePull", "ImagePullBackOff":
		if w.Reason == "ErrImagePull" || s.pull == "" || !strings.HasPrefix(w.Message, "Back-off") {
			s.pull = w.Message
		}
		if s.failing.IsZero() {
			s.failing = now
		}
		if final(s.pull) || now.Sub(s.failing) >= PullPatience {
			return "", &runner.StartError{Fault: runner.NotPulled, Text: fmt.Sprintf("%s: %s%s", c.Image, s.pull, onNode(p))}
		}
		return "pulling " + c.Image + " failed: " + s.pull, nil
	case "ErrImageNeverPull", "InvalidImageName":
		return "", &runner.StartError{Fault: runner.NotPulled, Text: fmt.Sprintf("%s: %s %s%s", c.Image, w.Reason, w.Message, onNode(p))}
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
		return "", &runner.StartError{Fault: runner.NotStarted, Text: fmt.Sprintf("%s: %s%s", w.Reason, w.Message, onNode(p))}
	}
	return "", nil
}

// final reports whether the pull of an image fails in a way that another try does not mend.
func final(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc([]string{"unauthorized", "not found", "no match for platform", "denied"}, func(text string) bool {
		return strings.Contains(message, text)
	})
}

func onNode(p *core.Pod) string {
	if p.Spec.NodeName == "" {
		return ""
	}
	return " (kubelet on " + p.Spec.NodeName + ")"
}

// latest returns what the latest event about a Pod reports, or how far its containers are.
func latest(p *core.Pod, events []core.Event) Reason {
	for _, e := range slices.Backward(events) {
		switch e.Reason {
		case "Pulling":
			_, image, _ := strings.Cut(e.Message, `"`)
			image, _, _ = strings.Cut(image, `"`)
			return Reason{Text: "pulling " + image}
		case "FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox":
			return Reason{Text: e.Reason + ": " + e.Message, Taken: strings.Contains(e.Message, "Multi-Attach error")}
		}
	}
	if p.Spec.NodeName == "" {
		return Reason{Text: "the scheduler has not chosen a node yet", Usual: true}
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && w.Reason != "" {
			return Reason{Text: w.Reason + " on " + p.Spec.NodeName, Usual: true}
		}
	}
	return Reason{Text: "the containers are created on " + p.Spec.NodeName, Usual: true}
}

// Initializes reports whether an init container runs, or has ended well.
func Initializes(p *core.Pod, name string) bool {
	state := stateOf(p.Status.InitContainerStatuses, name)
	return state.Running != nil || state.Terminated != nil && state.Terminated.ExitCode == 0
}

// Initialized reports whether an init container has ended well.
func Initialized(p *core.Pod, name string) bool {
	state := stateOf(p.Status.InitContainerStatuses, name)
	return state.Terminated != nil && state.Terminated.ExitCode == 0
}

func stateOf(list []core.ContainerStatus, name string) core.ContainerState {
	for _, c := range list {
		if c.Name == name {
			return c.State
		}
	}
	return core.ContainerState{}
}
