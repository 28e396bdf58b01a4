package podstatus

import (
	"fmt"
	"slices"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"deployster/kube/internal/podspec"
)

// PullPatience is how long the pull of an image may fail before it is an error: a registry may be slow.
const PullPatience = time.Minute

// StartError reports that a Pod could not be started. Nothing was begun in it.
type StartError struct{ Text string }

func (e *StartError) Error() string { return e.Text }

// Refused returns the error for a Pod that the API server refuses, or nil if the request may succeed later:
// then why is the reason to wait.
func Refused(err error) (why string, failure error) {
	text := err.Error()
	switch {
	case apierrors.IsForbidden(err) && strings.Contains(text, "exceeded quota"):
		_, quota, _ := strings.Cut(text, "exceeded quota")
		return "exceeded quota" + quota, nil
	case apierrors.IsForbidden(err) && strings.Contains(text, "violates PodSecurity"):
		_, rule, _ := strings.Cut(text, "violates PodSecurity")
		return "", &StartError{"the cluster refused a Pod: it violates PodSecurity" + rule}
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsMethodNotSupported(err):
		return "", &StartError{"the cluster refused a Pod: " + text}
	}
	return "", err
}

// Start follows a Pod from its creation until it runs.
type Start struct {
	failing time.Time // since when its images cannot be pulled; zero = they can
	pull    string    // why
}

// Waits returns whether a Pod runs, and otherwise why not. events are the messages of the kubelet and
// the scheduler about it, the latest one last. The error is a *StartError: waiting mends nothing.
func (s *Start) Waits(p *core.Pod, events []core.Event, now time.Time) (runs bool, why string, err error) {
	if state := stateOf(p.Status.ContainerStatuses, podspec.Container); state.Running != nil && p.DeletionTimestamp == nil {
		return true, "", nil
	}
	if p.DeletionTimestamp != nil || p.Status.Phase == core.PodFailed || p.Status.Phase == core.PodSucceeded {
		return false, "", &StartError{"no Pod could be started: " + p.Name + " " + EndOf(p).Why}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == core.PodScheduled && c.Status == core.ConditionFalse {
			if c.Reason == core.PodReasonUnschedulable {
				return false, c.Message, nil
			}
			return false, strings.TrimSuffix(c.Reason+": "+c.Message, ": "), nil
		}
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if c.Name != podspec.Agent && c.Name != podspec.Container {
			continue
		}
		if t := c.State.Terminated; c.Name == podspec.Agent && t != nil && t.ExitCode != 0 {
			return false, "", &StartError{strings.TrimSpace(fmt.Sprintf("no Pod could be started: its agent could not be copied "+
				"(exit code %d) %s", t.ExitCode, t.Message))}
		}
		if c.State.Waiting == nil {
			continue
		}
		if why, err := s.waiting(p, c, now); why != "" || err != nil {
			return false, why, err
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
			return "", &StartError{fmt.Sprintf("an image cannot be pulled: %s: %s%s", c.Image, s.pull, onNode(p))}
		}
		return "pulling " + c.Image + " failed: " + s.pull, nil
	case "ErrImageNeverPull", "InvalidImageName":
		return "", &StartError{fmt.Sprintf("an image cannot be pulled: %s: %s %s%s", c.Image, w.Reason, w.Message, onNode(p))}
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
		return "", &StartError{fmt.Sprintf("no Pod could be started: %s: %s%s", w.Reason, w.Message, onNode(p))}
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
func latest(p *core.Pod, events []core.Event) string {
	for _, e := range slices.Backward(events) {
		switch e.Reason {
		case "Pulling":
			_, image, _ := strings.Cut(e.Message, `"`)
			image, _, _ = strings.Cut(image, `"`)
			return "pulling " + image
		case "FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox":
			return e.Reason + ": " + e.Message
		}
	}
	if p.Spec.NodeName == "" {
		return "the scheduler has not chosen a node yet"
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && w.Reason != "" {
			return w.Reason + " on " + p.Spec.NodeName
		}
	}
	return "the containers are created on " + p.Spec.NodeName
}

func stateOf(list []core.ContainerStatus, name string) core.ContainerState {
	for _, c := range list {
		if c.Name == name {
			return c.State
		}
	}
	return core.ContainerState{}
}
