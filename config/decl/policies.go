package decl

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/schema"
	"deployster/config/source"
)

// Policy is a decoded policy block: it has the type of an image, or rules.
type Policy struct {
	Block
	Rules []Rule
}

// Rule is what one rule block of a policy denies.
type Rule struct {
	Deny    hcl.Expression
	Message hcl.Expression
}

func (l *loader) policy(b *hcl.Block) {
	p := &Policy{Block: l.header(b)}
	c := l.content(b.Body, schema.Policy)
	p.Attrs = c.Attributes
	blocks := c.Blocks.OfType("rule")
	for _, r := range blocks {
		attrs := l.content(r.Body, schema.Rule).Attributes
		if attrs["deny"] == nil || attrs["message"] == nil {
			continue // already reported
		}
		p.Rules = append(p.Rules, Rule{Deny: attrs["deny"].Expr, Message: attrs["message"].Expr})
	}
	switch typ, config := p.Attrs["type"], p.Attrs["config"]; {
	case typ != nil && len(blocks) > 0:
		l.add(source.Failure(blocks[0].DefRange, "Both a type and rules", "A policy is judged by the image of its type or by its rules: "+
			"make two policies of it."))
	case typ == nil && config != nil:
		l.add(source.Failure(config.NameRange, "A config without a type", "The config is for the image of a policy, and this one has no "+
			"type: add type = \"acme/policy:1\", or write the values into the rules."))
	case typ == nil && len(blocks) == 0:
		l.add(source.Failure(p.At, "A policy without rules", "A policy has a type, which is an image, or at least one rule block: "+
			"rule { deny = [...], message = \"...\" }."))
	}
	if first := l.b.Policies[p.Name]; first != nil {
		l.add(twice("policy", p.Name, first.At, p.At))
		return
	}
	l.b.Policies[p.Name] = p
}

// policyExpressions visits the rules: what they may refer to is known before any resource is read, and the plan.
func policyExpressions(b *Module, visit func(Expression)) {
	sorted(b.Policies, func(p *Policy) {
		for _, r := range p.Rules {
			visit(Expression{Expr: r.Deny, Usage: Usage{What: "the deny of a rule", Static: true, Plan: true}})
			visit(Expression{Expr: r.Message, Usage: Usage{What: "the message of a rule", Static: true, Plan: true, Denied: true}})
		}
	})
}
