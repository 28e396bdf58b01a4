package terminal

import (
	"context"
	"fmt"
	"io"
	"strings"

	"deployster/apply"
	"deployster/internal/ui/paint"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/protocol"
)

// Confirm prompts a person for approval. y or yes approves; if whole is set, only yes does.
// An empty answer and the end of the input decline.
func (u *UI) Confirm(ctx context.Context, question string, whole bool) (bool, error) {
	p, choices := Printer{Out: u.stderr}, "[y/N]"
	if whole {
		choices = "It destroys resources: only yes is accepted. [yes/N]"
	}
	p.Printf("%s %s ", question, choices)
	line, err := readAnswer(ctx, u.stdin)
	if err != nil {
		p.Printf("\n")
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	word := strings.ToLower(strings.TrimSpace(line))
	return err == nil && (word == "yes" || word == "y" && !whole), nil
}

// Question prompts for approval of one resource or one action, in the middle of an apply. It
// shows the change in the form of a plan. Other output waits until the question is
// answered.
func (u *UI) Question(ctx context.Context, q apply.Question) (apply.Answer, error) {
	var text strings.Builder
	p := u.Err
	p.Out = &text
	p.Printf("\n")
	if q.Late {
		p.Printf("%s what the plan could not show is known now.\n\n", paint.Bold(q.Address+":"))
	}
	prompt := q.Address + ": do this?"
	if q.Action == nil {
		p.Printf("%s", render.Step(q.Address, q.Now, p.Options()))
	} else {
		if q.Late || isFirst(q.Now, q.Action) {
			p.Printf("%s", render.Step(q.Address, q.Now, p.Options()))
		}
		prompt = fmt.Sprintf("%s: run %s?", q.Address, render.Action(*q.Action, p.Options()))
	}
	out, release := u.screen.ask()
	defer release()
	_, _ = io.WriteString(out, text.String()) // a terminal that is gone gives no answer either
	p.Out = out
	for {
		p.Printf("%s [y/N/a/q/?] ", prompt)
		line, err := readAnswer(ctx, u.stdin)
		if err != nil {
			p.Printf("\n")
		}
		if ctx.Err() != nil {
			return apply.No, context.Cause(ctx)
		} else if err != nil {
			return apply.Quit, nil // the input has ended
		}
		if answer, ok := answers()[strings.ToLower(strings.TrimSpace(line))]; ok {
			return answer, nil
		}
		p.Printf("  y, yes   do this\n  n, no    skip it and its dependants (the default)\n" +
			"  a, all   do this, without further prompts\n  q, quit  skip this and all that is not approved yet\n")
	}
}

// answers returns the answers that a question accepts.
func answers() map[string]apply.Answer {
	return map[string]apply.Answer{"": apply.No, "n": apply.No, "no": apply.No, "y": apply.Yes, "yes": apply.Yes,
		"a": apply.All, "all": apply.All, "q": apply.Quit, "quit": apply.Quit}
}

// isFirst reports whether an action is the first one of its step to be prompted for: then
// the question shows the whole step.
func isFirst(s *plan.Step, a *protocol.Action) bool {
	first := s.Answer().Shutdown
	if first == nil && len(s.Answer().Actions) > 0 {
		first = &s.Answer().Actions[0]
	}
	return first != nil && first.Name == a.Name
}
