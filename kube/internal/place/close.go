package place

import (
	"context"
	"time"
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
