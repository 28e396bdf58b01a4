package sharedlog

import "time"

// start appends an alive entry whenever the holder has appended nothing for Timing.Alive. It marks the last entry at least 15 times as
// often, so that its loss is noticed if the holder dies.
func (c *Claim) start() {
	every := c.log.Timing.Alive
	if every == 0 {
		return
	}
	quit, done := make(chan struct{}), make(chan struct{})
	c.quit, c.done = quit, done
	go func() {
		defer close(done)
		tick := time.NewTicker(max(every/15, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			if c.Age() < every {
				c.mark(c.ctx)
				continue
			}
			if _, err := c.Append(Entry{Kind: KindAlive}); err != nil {
				return // the next append returns this error
			}
		}
	}()
}

// stop ends the alive entries. It waits for one that is being appended.
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

// Abandon stops the alive entries, as the suspension or death of the process would:
// others take the log over in time. Entries that are appended until then count.
func (c *Claim) Abandon() { c.stop() }
