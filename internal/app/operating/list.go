package operating

import (
	"context"
	"maps"
	"slices"

	"deployster/internal/app"
	"deployster/internal/app/stage"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/protocol"
	"deployster/state/moves"
)

// Offered are the operations of a recorded resource.
type Offered struct {
	Address    string                        `json:"address"`
	Type       string                        `json:"type"`
	Operations map[string]protocol.Operation `json:"operations"`
	Open       []string                      `json:"open,omitempty"` // those whose last run has an unknown outcome
}

// List returns the recorded resources whose types have operations. pattern limits them; "" = all.
func List(ctx context.Context, e *app.Engine, pattern string) ([]Offered, error) {
	c := e.Command()
	loaded, err := stage.LoadEmpty(c, plan.Selection{RefreshOnly: true})
	if err != nil {
		return nil, err
	}
	opened, err := stage.Read(ctx, c, loaded)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	if pattern == "" {
		pattern = "*"
		if len(opened.Prior.Resources) == 0 {
			return []Offered{}, nil
		}
	}
	addresses, err := matching(opened.Prior, pattern)
	if err != nil {
		return nil, err
	}
	m, err := e.Machine(ctx)
	if err != nil {
		return nil, err
	}
	connected, err := stage.Compare(ctx, c, opened, m)
	if err != nil {
		return nil, err
	}
	defer connected.Close()
	b, err := newBench(ctx, c, connected, addresses)
	if err != nil {
		return nil, err
	}
	list := []Offered{}
	for _, addr := range addresses {
		step := b.session.RecordedStep(b.prior.Resources[addr])
		ty, err := b.clients.Init(ctx, step.Target(addr))
		if err != nil {
			c.Work.Diagnostics(diag.From("Cannot query "+addr, err))
			continue
		}
		if len(ty.Operations) == 0 {
			continue
		}
		one := Offered{Address: addr, Type: b.prior.Resources[addr].Type, Operations: maps.Clone(ty.Operations)}
		for _, key := range b.prior.OpenOperations(addr) {
			_, name := moves.OperationAt(key)
			one.Open = append(one.Open, name)
		}
		slices.Sort(one.Open)
		list = append(list, one)
	}
	return list, nil
}
