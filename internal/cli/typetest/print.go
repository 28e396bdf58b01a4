package typetest

import (
	"deployster/internal/runtime/conformance"
	"deployster/internal/runtime/conformance/recording"
	"deployster/internal/runtime/conformance/report"
	"deployster/internal/ui/paint"
	"deployster/internal/ui/render"
	"deployster/internal/ui/terminal"
	"deployster/internal/ui/typeview"
	"deployster/protocol"
	"fmt"
	"strings"
	"time"
)

// begins prints what a test is going to do.
func begins(p terminal.Printer, o conformance.Options, ty protocol.Type) {
	label := o.Image
	if ty.Label != "" && ty.Label != o.Image {
		label = fmt.Sprintf("%s (%s)", ty.Label, o.Image)
	}
	does := "This really makes and changes what the config describes."
	if ty.Notify != nil {
		does = "This really sends messages to what the config names."
	}
	if ty.Policy != nil {
		does = "It judges sample plans."
	}
	if ty.Secret != nil {
		does = "It really reads the secret, which is shown nowhere."
	}
	p.Printf("Testing %s. %s\n", paint.Bold(label), paint.Yellow(does))
	switch {
	case ty.Policy != nil || ty.Notify != nil || ty.Secret != nil:
	case !ty.Absent:
		p.Printf("The image cannot remove things, so what it makes stays.\n")
	case o.Keep:
		p.Printf("What it makes stays, because of -keep.\n")
	default:
		p.Printf("It is removed at the end.\n")
	}
	for name, plug := range o.Plugs {
		p.Printf("Plug %s: %s\n", name, plug.Path)
	}
}

// checked prints one check.
func checked(p terminal.Printer, c report.Check) {
	mark := map[report.Verdict]string{report.Pass: paint.Green("ok   "), report.Fail: paint.Red("FAIL "),
		report.Skip: paint.Dim("skip ")}[c.Verdict]
	line := fmt.Sprintf("%s %s", mark, c.Title)
	if c.Verdict != report.Fail && c.Reason != "" {
		line += paint.Dim(" (" + strings.ReplaceAll(c.Reason, "\n", " ") + ")")
	}
	p.Printf("%s\n", line)
	if c.Verdict != report.Fail {
		if c.Fix != "" {
			printIndented(p, "      ", "Better: "+c.Fix)
		}
		return
	}
	printIndented(p, "      ", c.Reason)
	printIndented(p, "      ", paint.Bold("Fix: ")+c.Fix)
	for _, x := range c.Exchanges {
		printExchange(p, x)
	}
}

// printExchange prints the input and the output of one run of the image.
func printExchange(p terminal.Printer, x recording.Exchange) {
	how := fmt.Sprintf("exit code %d", x.ExitCode)
	if x.Error != "" {
		how = x.Error
	}
	args := ""
	for _, a := range x.Args {
		args += " " + typeview.Inline(a)
	}
	p.Printf("      %s %s\n", paint.Bold(x.Step),
		paint.Dim(fmt.Sprintf("args:%s, %s, %s", orNone(args), how, render.Took(time.Duration(x.Millis)*time.Millisecond))))
	for _, part := range []struct{ name, text string }{{"stdin ", x.Stdin}, {"stdout", x.Stdout}, {"stderr", x.Stderr}} {
		if part.text == "" {
			p.Printf("        %s (nothing)\n", part.name)
			continue
		}
		for i, line := range strings.Split(part.text, "\n") {
			name := part.name
			if i > 0 {
				name = "      "
			}
			p.Printf("        %s %s\n", paint.Dim(name), line)
		}
	}
}

func orNone(args string) string {
	if args == "" {
		return " none"
	}
	return args
}

func printIndented(p terminal.Printer, indent, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		p.Printf("%s%s\n", indent, line)
	}
}

// summary prints the last line of a test.
func summary(p terminal.Printer, r report.Report) {
	verdict := paint.Green("PASS:")
	if r.Status != report.Pass {
		verdict = paint.Red("FAIL:")
	}
	p.Printf("\n%s %d passed, %d failed, %d skipped, in %s.\n", paint.Bold(verdict), r.Passed, r.Failed, r.Skipped,
		render.Took(time.Duration(r.Millis)*time.Millisecond))
	if r.LeftBehind {
		p.Printf("What the test has created still exists.\n")
	}
}
