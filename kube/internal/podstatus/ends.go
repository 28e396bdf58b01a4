package podstatus

import (
	"fmt"
	"strconv"
	"strings"

	core "k8s.io/api/core/v1"

	"deployster/internal/runtime/runner"
	"deployster/kube/internal/podspec"
)

// End is how far a Pod is at its end.
type End struct {
	Begun bool // its container was started
	Over  bool // it runs nothing, and never will: its container has ended, or can no longer be started
	OOM   bool
	Why   string // why it ended, as the predicate of a sentence about the Pod

	unplaced bool   // it never had a node, so that nothing was started
	terminal string // the termination message
	read     bool   // terminal has the line of each action that was begun
}

// fullMessage is the size from which on a termination message may lack lines: the kubelet keeps 4,096 bytes.
const fullMessage = 4000

// EndOf reads the end of a Pod. The phase alone proves nothing: the control plane sets it for a Pod whose
// node it no longer hears.
func EndOf(p *core.Pod) End {
	state := stateOf(p.Status.ContainerStatuses, podspec.Container)
	e := End{Begun: state.Running != nil || state.Terminated != nil || p.Status.Phase == core.PodRunning, Why: why(p)}
	if t := state.Terminated; t != nil {
		e.Over, e.OOM, e.terminal = true, t.Reason == "OOMKilled", t.Message
		e.read = t.Reason != "ContainerStatusUnknown" && len(t.Message) < fullMessage
		return e
	}
	// A container that waits is not started any more after the end of its Pod. It may have run: the kubelet forgets
	// that when it evicts a Pod for its disk.
	e.Over = !e.Begun && Final(p)
	e.unplaced = e.Over && p.Spec.NodeName == ""
	return e
}

// Final reports whether the Pod has ended by its phase. The kubelet may report the end of a container before, and only then
// why it ended it.
func Final(p *core.Pod) bool {
	return p.Status.Phase == core.PodFailed || p.Status.Phase == core.PodSucceeded
}

// Fate returns how an action in the Pod ended, if its end is certain. Otherwise known is false.
func (e End) Fate(id string) (out runner.Outcome, known bool) {
	if !e.Over {
		return out, false
	}
	begun := false
	for line := range strings.Lines(e.terminal) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != id {
			continue
		}
		switch {
		case fields[1] == "begun":
			begun = true
		case fields[1] == "exit" && len(fields) == 3:
			if code, err := strconv.Atoi(fields[2]); err == nil {
				return runner.Outcome{Fate: runner.Exited, Result: runner.Result{ExitCode: code,
					Stderr: []byte("[its output was lost with the Pod]\n")}}, true
			}
		}
	}
	switch {
	case e.unplaced: // an action is requested of a Pod that runs
		return runner.Outcome{Fate: runner.NotBegun}, true
	case begun && e.OOM:
		return runner.Outcome{Fate: runner.Exited, Result: runner.Result{ExitCode: 137, OOM: true}}, true
	case !begun && e.read:
		return runner.Outcome{Fate: runner.NotBegun}, true
	}
	return runner.Outcome{Fate: runner.Unknown, Why: "the Pod " + e.Why}, true
}

// Idle reports whether the Pod has ended and nothing that ran in it was an action.
func (e End) Idle() bool {
	return e.Over && (e.unplaced || e.read && strings.TrimSpace(e.terminal) == "")
}

// Unknown reports whether the Pod has ended and proves of no action how that ended.
func (e End) Unknown() bool {
	if !e.Over {
		return false
	}
	for line := range strings.Lines(e.terminal) {
		if fields := strings.Fields(line); len(fields) > 1 && (e.OOM || fields[1] == "exit") {
			return false
		}
	}
	return true
}

// Names reports whether the termination message names an action.
func (e End) Names(id string) bool {
	for line := range strings.Lines(e.terminal) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == id {
			return true
		}
	}
	return false
}

// why returns the reason of an end, as the predicate of a sentence.
func why(p *core.Pod) string {
	text := strings.TrimRight(p.Status.Message, ". \n")
	for _, c := range p.Status.Conditions {
		if c.Type == core.DisruptionTarget && c.Status == core.ConditionTrue && text == "" {
			text = strings.TrimRight(c.Message, ". \n")
		}
	}
	state := stateOf(p.Status.ContainerStatuses, podspec.Container)
	verb := "has ended"
	switch t := state.Terminated; {
	case p.Status.Reason == "Evicted":
		verb = "was evicted"
	case p.Status.Reason == "Preempting" || disrupted(p) == "PreemptionByScheduler":
		verb = "was preempted"
	case t != nil && t.Reason == "OOMKilled":
		verb = "ran out of memory"
	case p.DeletionTimestamp != nil:
		verb = "was deleted"
	case t != nil && t.ExitCode != 0:
		verb = fmt.Sprintf("ended with exit code %d (%s)", t.ExitCode, t.Reason)
	case p.Status.Reason != "":
		verb = "has ended (" + p.Status.Reason + ")"
	}
	if text != "" {
		verb += ": " + text
	}
	return verb
}

func disrupted(p *core.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == core.DisruptionTarget && c.Status == core.ConditionTrue {
			return c.Reason
		}
	}
	return ""
}

// Silent returns which node no longer answers for a Pod, and since when; "" = it answers.
func Silent(p *core.Pod) string {
	for _, c := range p.Status.Conditions {
		runs := stateOf(p.Status.ContainerStatuses, podspec.Container).Running != nil
		if runs && c.Type == core.PodReady && c.Status != core.ConditionTrue && p.Spec.NodeName != "" {
			return fmt.Sprintf("%s has not responded since %s", p.Spec.NodeName, c.LastTransitionTime.Format("15:04"))
		}
	}
	return ""
}
