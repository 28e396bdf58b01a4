package planfile

import (
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/verdict"
)

// validate checks that a plan which was read is consistent, so that its users need
// not: the checksum of a plan file reports that the file is whole, not who wrote it. It
// returns what is wrong, or "".
func validate(p *plan.Plan) string {
	if p.Errored {
		return "it is of a plan with errors"
	}
	for _, check := range []func(*plan.Plan) string{resources, unreached, later, exclusiveSets, policies, movedEntries, outputs,
		(*plan.Plan).InvalidOrder} {
		if why := check(p); why != "" {
			return why
		}
	}
	return ""
}

func resources(p *plan.Plan) string {
	for addr, s := range p.Resources {
		if s == nil || addr == "" || diag.Visible(addr) != addr {
			return "a resource is not one"
		}
		if why := s.Invalid(); why != "" {
			return why
		}
		for _, target := range s.Aliases {
			if p.Resources[target] == nil && s.Change() != plan.Destroy &&
				s.Change() != plan.Forget && s.Change() != plan.Left { // these use the entries of their dependencies
				return "an alias has no target"
			}
		}
	}
	return ""
}

func unreached(p *plan.Plan) string {
	for _, why := range p.Unreached {
		if why == nil || why.Invalid() {
			return "a reason is not known"
		}
	}
	return ""
}

func later(p *plan.Plan) string {
	for addr, l := range p.Later {
		known := l.Sort == plan.LaterBlock || l.Sort == plan.LaterResource || l.Sort == plan.LaterEntry
		if !known || diag.Visible(addr) != addr || p.Resources[addr] != nil {
			return "what is left to a later round is not that"
		}
		if l.Reason == nil || l.Reason.Invalid() {
			return "a reason is not known"
		}
	}
	return ""
}

func exclusiveSets(p *plan.Plan) string {
	for i := range p.Exclusive {
		if p.Exclusive[i].Invalid() {
			return "a reason of an exclusive set is not known"
		}
	}
	return ""
}

func policies(p *plan.Plan) string { return verdict.Invalid(p.Policies) }

func movedEntries(p *plan.Plan) string {
	for _, m := range p.Moves {
		if step := p.Resources[m.To]; step == nil || step.MovedFrom != m.From && step.Deposed == "" || diag.Visible(m.From) != m.From {
			return "a move has no target"
		}
	}
	return ""
}

func outputs(p *plan.Plan) string {
	for name := range p.Operations {
		if diag.Visible(name) != name {
			return "the name of an operation is not one"
		}
	}
	for name := range p.Outputs {
		if diag.Visible(name) != name {
			return "the name of an output is not one"
		}
	}
	return ""
}
