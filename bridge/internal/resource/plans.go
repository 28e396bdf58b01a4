package resource

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"

	"deployster/bridge/internal/tfplugin/tfplugin6"
)

// plans are the last plans that a process has made for state steps. An action that follows
// right after its state step takes its plan, so that the provider need not plan again.
type plans struct {
	mu    sync.Mutex
	of    map[planKey]planned
	order []planKey // oldest first
}

// planKey is a hash of a resource's name and of the whole request to its provider.
type planKey [sha256.Size]byte

// keptPlans is how many plans are kept: enough for the resources that are processed at a time.
const keptPlans = 64

func keyOf(name string, in *tfplugin6.PlanResourceChange_Request) planKey {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(name), []byte(in.GetTypeName()), in.GetPriorPrivate(), in.GetPriorState().GetMsgpack(),
		in.GetProposedNewState().GetMsgpack(), in.GetConfig().GetMsgpack()} {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part)))) // a hash never fails
		_, _ = h.Write(part)
	}
	return planKey(h.Sum(nil))
}

func (p *plans) keep(key planKey, made planned) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[planKey]planned{}
	}
	if _, there := p.of[key]; !there {
		p.order = append(p.order, key)
	}
	if p.of[key] = made; len(p.order) > keptPlans {
		delete(p.of, p.order[0])
		p.order = p.order[1:]
	}
}

// take removes a plan and returns it, so that no other action gets it.
func (p *plans) take(key planKey) (planned, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	made, there := p.of[key]
	if there {
		delete(p.of, key)
		p.order = slices.DeleteFunc(p.order, func(k planKey) bool { return k == key })
	}
	return made, there
}

// forget drops all plans, because a new process starts.
func (p *plans) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of, p.order = nil, nil
}
