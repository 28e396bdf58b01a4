package sharedlog

import "time"

// start has the holder heard of also when it has nothing to say.
func (c *Claim) start() {
	every := c.log.Timing.Alive
	if every == 0 {
		return
	}
	quit, done := make(chan struct{}), make(chan struct{})
	c.quit, c.done = quit, done
	go func() {
		defer close(done)
		tick := time.NewTicker(max(every/5, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-quit:
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

// Abandon gives no more signs of life, as a process that is suspended or dead: others
// take the log over in time. What is appended until then counts.
func (c *Claim) Abandon() { c.stop() }
