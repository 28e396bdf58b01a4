package places

// Most changes how many connections there are at one time; 0 = no limit.
func (p *Places) Most(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.o.Most = n
}

// makeRoom closes connections over which nothing is called, those first that are idle for
// the longest time, as long as there are too many with the one that is being made.
func (p *Places) makeRoom() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.o.Most > 0 {
		open, idlest := p.open()
		if open <= p.o.Most || idlest == nil {
			return
		}
		idlest.leave()
	}
}

// open counts the connections, and gives the host of the one that is idle for the longest
// time; nil = all are in use.
func (p *Places) open() (n int, idlest *host) {
	for _, h := range p.hosts {
		switch there, idle := h.state(); {
		case !there:
		case idle && (idlest == nil || h.idle.Load() < idlest.idle.Load()):
			idlest = h
			fallthrough
		default:
			n++
		}
	}
	return n, idlest
}

// state says whether there is a connection to a host, and whether nothing is called over it.
func (h *host) state() (there, idle bool) {
	if !h.mu.TryLock() {
		return true, false // it is being made, or given to who calls
	}
	defer h.mu.Unlock()
	if h.client == nil {
		return false, false
	}
	select {
	case <-h.client.Lost():
		return false, false
	default:
		return true, h.calls.Load() == 0
	}
}

// leave ends the connection to a host, unless somebody calls. The next call makes another.
func (h *host) leave() {
	if h.mu.TryLock() {
		if h.calls.Load() == 0 {
			_ = h.client.Close() // it says goodbye
		}
		h.mu.Unlock()
	}
}
