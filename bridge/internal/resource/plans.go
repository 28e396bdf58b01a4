package resource

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"

	"deployster/bridge/internal/tfplugin/tfplugin6"
)

// plans are what a process has planned last for questions, until an action carries it out:
// it follows right after the question, and the provider is not asked the same again.
type plans struct {
	mu    sync.Mutex
	of    map[planKey]planned
	order []planKey // the oldest first
}

// planKey stands for a resource and all that its provider was told.
type planKey [sha256.Size]byte

// keptPlans is how many are kept: those of resources that are worked on at one time.
const keptPlans = 64

func keyOf(name string, in *tfplugin6.PlanResourceChange_Request) planKey {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(name), []byte(in.GetTypeName()), in.GetPriorPrivate(), in.GetPriorState().GetMsgpack(),
		in.GetProposedNewState().GetMsgpack(), in.GetConfig().GetMsgpack()} {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part)))) // a hash takes all
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

// take gives a plan to the one who carries it out, and to nobody else.
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

// forget is for another process.
func (p *plans) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of, p.order = nil, nil
}
