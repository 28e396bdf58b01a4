package sharedlog

import "time"

// start has the holder heard of also when it has nothing to say.
func (c *Claim) start() {
	every := c.log.Timing.Alive
	if every == 0 {
		return
	}
	c.quit, c.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(c.done)
		tick := time.NewTicker(max(every/5, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-c.quit:
				return
			case <-tick.C:
			}
			if c.Age() < every {
				continue
			}
			if _, err := c.Append(Entry{Kind: KindAlive}); err != nil {
				return // whoever appends next is told
			}
		}
	}()
}

// stop ends the signs of life. One that is on its way is waited for, as any append.
func (c *Claim) stop() {
	c.mu.Lock()
	quit := c.quit
	c.quit = nil
	c.mu.Unlock()
	if quit != nil {
		close(quit)
		<-c.done
	}
}
