package place

import (
	"context"
	"slices"
	"time"

	core "k8s.io/api/core/v1"

	"deployster/kube/internal/podspec"
	"deployster/kube/internal/podstatus"
)

// closing is how long the end of a command may take.
const closing = 20 * time.Second

// Close deletes the Pods in which nothing runs any more, and ends the connections. Pods with open actions stay.
func (p *Place) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	for _, m := range p.pool.Idle() {
		p.removing.Go(func() { p.undo(m.Name, m.UID) })
	}
	for _, pod := range p.useless() {
		p.removing.Go(func() { p.undo(pod.Name, string(pod.UID)) })
	}
	p.removing.Wait()
	p.closeFiles()
	var err error
	if p.fence != nil {
		err = p.fence.Close(ctx)
	}
	p.agents.Close()
	p.stop()
	return err
}

// useless returns the Pods of earlier commands that have ended and that no state waits for, and those that prove no outcome, such as
// evicted ones. This command has reported why they ended; those of its own stay for people until the next one.
func (p *Place) useless() []*core.Pod {
	if p.fence == nil {
		return nil
	}
	return slices.DeleteFunc(p.pods.All(), func(pod *core.Pod) bool {
		return !p.over(pod, p.fence.Opened()) && (p.ofThisRun(pod) || !podstatus.EndOf(pod).Unknown())
	})
}

// over reports whether a Pod of an earlier command has ended, and is not among those that are open for its state.
func (p *Place) over(pod *core.Pod, open []string) bool {
	return podstatus.EndOf(pod).Over && !p.ofThisRun(pod) && !slices.Contains(open, pod.Name)
}

func (p *Place) ofThisRun(pod *core.Pod) bool { return pod.Labels[podspec.LabelRun] == p.run }
