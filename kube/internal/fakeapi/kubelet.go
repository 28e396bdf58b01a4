package fakeapi

import (
	"io"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"deployster/kube/internal/podspec"
)

// Node is the name of the only node.
const Node = "node-7"

// Agent is the first process of a Pod.
type Agent interface {
	// Talk serves one connection until it ends.
	Talk(stream io.ReadWriteCloser) error
	// Terminate requests the end, as SIGTERM does.
	Terminate()
	// Kill ends it at once.
	Kill()
	// Ended is closed when it has ended.
	Ended() <-chan struct{}
	// Message returns the termination message, and the exit code.
	Message() (string, int)
}

// Running is a Pod as the kubelet sees it.
type Running struct {
	Pod *core.Pod // as it was created

	s     *Server
	mu    sync.Mutex
	agent Agent
	inits map[string]Agent // by the name of the container
	over  bool
	gone  chan struct{} // closed when the Pod is to end before its agent was started
	once  sync.Once

	latest int
	cuts   map[int]func() error // break the connections of exec
}

func newRunning(s *Server, p *core.Pod) *Running {
	return &Running{Pod: p.DeepCopy(), s: s, gone: make(chan struct{}), inits: map[string]Agent{}, cuts: map[int]func() error{}}
}

// Gone returns a channel that is closed when the Pod is to end.
func (r *Running) Gone() <-chan struct{} { return r.gone }

// Event reports an event about the Pod.
func (r *Running) Event(reason, message string) { r.s.Event(r.Pod, reason, message) }

// Status changes the status of the Pod, if it still exists.
func (r *Running) Status(do func(*core.Pod)) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	p := r.s.pods[r.Pod.Name]
	if p == nil || p.UID != r.Pod.UID {
		return
	}
	next := p.DeepCopy()
	do(next)
	r.s.put("MODIFIED", next)
}

// Waiting sets why a container does not run.
func (r *Running) Waiting(container, reason, message string) {
	r.Status(func(p *core.Pod) {
		p.Spec.NodeName = Node
		waiting := core.ContainerState{Waiting: &core.ContainerStateWaiting{Reason: reason, Message: message}}
		status := core.ContainerStatus{Name: container, State: waiting}
		for _, c := range append(append([]core.Container(nil), p.Spec.InitContainers...), p.Spec.Containers...) {
			if c.Name == container {
				status.Image = c.Image
			}
		}
		if container == podspec.Agent {
			p.Status.InitContainerStatuses = []core.ContainerStatus{status}
		} else {
			p.Status.ContainerStatuses = []core.ContainerStatus{status}
		}
	})
}

// Init runs an init container until it has ended, and reports whether it has ended well.
func (r *Running) Init(name string, a Agent) bool {
	r.mu.Lock()
	r.inits[name] = a
	r.mu.Unlock()
	set := func(state core.ContainerState) {
		r.Status(func(p *core.Pod) {
			p.Spec.NodeName = Node
			p.Status.InitContainerStatuses = []core.ContainerStatus{{Name: name, State: state}}
		})
	}
	set(core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: meta.Now()}})
	select {
	case <-a.Ended():
	case <-r.gone:
		a.Kill()
	}
	message, code := a.Message()
	set(core.ContainerState{Terminated: &core.ContainerStateTerminated{ExitCode: int32(code), Message: message}})
	return code == 0
}

// Start starts the agent, and reports the end of it in the status.
func (r *Running) Start(a Agent) {
	r.mu.Lock()
	select {
	case <-r.gone:
		r.mu.Unlock()
		a.Kill()
		return
	default:
	}
	r.agent = a
	r.mu.Unlock()
	r.Status(func(p *core.Pod) {
		p.Spec.NodeName = Node
		p.Status.Phase = core.PodRunning
		p.Status.Conditions = []core.PodCondition{{Type: core.PodScheduled, Status: core.ConditionTrue},
			{Type: core.PodReady, Status: core.ConditionTrue}}
		p.Status.InitContainerStatuses = []core.ContainerStatus{{Name: podspec.Agent,
			State: core.ContainerState{Terminated: &core.ContainerStateTerminated{}}}}
		p.Status.ContainerStatuses = []core.ContainerStatus{{Name: podspec.Container, Image: p.Spec.Containers[0].Image,
			State: core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: meta.Now()}}}}
	})
	<-a.Ended()
	r.ended("")
}

// ended reports the end of the agent, and removes a Pod that is being deleted.
func (r *Running) ended(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.agent == nil {
		return
	}
	r.over = true
	end := r.terminated(reason)
	r.Status(func(p *core.Pod) {
		p.Status.Phase = core.PodSucceeded
		if end.Terminated.ExitCode != 0 {
			p.Status.Phase = core.PodFailed
		}
		p.Status.ContainerStatuses[0].State = end
	})
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if p := r.s.pods[r.Pod.Name]; p != nil && p.UID == r.Pod.UID && p.DeletionTimestamp != nil {
		r.s.put("DELETED", p)
	}
}

// terminated returns the state of the container after the end of the agent.
func (r *Running) terminated(reason string) core.ContainerState {
	message, code := r.agent.Message()
	if reason == "" {
		reason = "Completed"
		if code != 0 {
			reason = "Error"
		}
	}
	return core.ContainerState{Terminated: &core.ContainerStateTerminated{ExitCode: int32(code), Reason: reason, Message: message,
		FinishedAt: meta.Now()}}
}

// Kill kills the agent. reason is that of the container's end; "" = as the exit code has it.
func (r *Running) Kill(reason string) {
	r.once.Do(func() { close(r.gone) })
	r.mu.Lock()
	a := r.agent
	r.mu.Unlock()
	if a == nil {
		return
	}
	a.Kill()
	<-a.Ended()
	r.ended(reason)
}

// end ends the Pod within a grace time.
func (r *Running) end(grace time.Duration) {
	r.once.Do(func() { close(r.gone) })
	r.mu.Lock()
	a := r.agent
	r.mu.Unlock()
	if a == nil {
		r.s.Vanish(r.Pod.Name)
		return
	}
	a.Terminate()
	select {
	case <-a.Ended():
	case <-time.After(grace):
	case <-r.s.done:
	}
	r.Kill("")
}

// Evict ends the Pod as the kubelet does when it uses more disk than it may: the status forgets that its container has run.
func (r *Running) Evict(message string) {
	if _, is := r.finish(); !is {
		return
	}
	r.Status(func(p *core.Pod) {
		p.Status.Phase, p.Status.Reason, p.Status.Message = core.PodFailed, "Evicted", message
		p.Status.ContainerStatuses[0].State = core.ContainerState{Waiting: &core.ContainerStateWaiting{Reason: "PodInitializing"}}
	})
}

// Reject ends the Pod as a kubelet does that starts again on a node without disk: first it knows no container, then its end, and at
// last why.
func (r *Running) Reject(message string, pause time.Duration) {
	r.Status(func(p *core.Pod) { p.Status.ContainerStatuses = nil })
	end, is := r.finish()
	if !is {
		return
	}
	time.Sleep(pause)
	r.Status(func(p *core.Pod) {
		p.Status.ContainerStatuses = []core.ContainerStatus{{Name: podspec.Container, State: end}}
	})
	time.Sleep(pause)
	r.Status(func(p *core.Pod) {
		p.Status.Phase, p.Status.Reason, p.Status.Message = core.PodFailed, "Evicted", message
	})
}

// finish kills the agent without a change of the status, and returns the end of its container. is is false if it has ended.
func (r *Running) finish() (end core.ContainerState, is bool) {
	r.once.Do(func() { close(r.gone) })
	r.mu.Lock()
	a, over := r.agent, r.over
	r.over = r.over || a != nil
	r.mu.Unlock()
	if a == nil || over {
		return end, false
	}
	a.Kill()
	<-a.Ended()
	return r.terminated(""), true
}
