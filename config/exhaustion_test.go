package config

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
)

// No call of a function, and no expression, takes all the time or memory of the
// machine: it ends soon, with an error, and has not taken much. The time is that
// of the processor, since others use the machine too, and with the race detector
// ten times as long.
func TestFunctions_BoundExpensiveExpressions(t *testing.T) {
	if os.Getenv("EXPENSIVE_FUNCTIONS") == "" {
		t.Parallel()
		// In a process of its own: Linux counts what this one takes as taken by all
		// that it starts later, and other tests measure those.
		cmd := exec.Command(os.Args[0], "-test.run=^TestFunctions_BoundExpensiveExpressions$", "-test.v", "-test.timeout=300s")
		cmd.Env = append(os.Environ(), "EXPENSIVE_FUNCTIONS=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "local.many") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	text := `variable "zip" {}
locals {
  long   = join("", [for i in range(1000) : format("%9999s", "x")])
  many   = split(",", join(",", [for i in range(1000) : join(",", range(90))]))
  digits = replace(local.long, " ", "1")
}
`
	dir := t.TempDir()
	m, diags := Load(sources(dir, text), []VarInput{{Name: "zip", Value: cty.StringVal(zipBomb(t))}}, Builtins{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, expr := range expensiveExpressions {
		before, cpu := memory(), processorTime(t)
		_, diags := m.Evaluate(expr, nil)
		took := processorTime(t) - cpu
		if !diags.HasErrors() {
			t.Errorf("%s passed", expr)
		}
		survived(t, diags)
		if took > 20*time.Second {
			t.Errorf("%s took %s", expr, took)
		}
		grown := (memory() - before) >> 20
		if grown > 200 {
			t.Errorf("%s took %d MiB", expr, grown)
		}
		t.Logf("%6d ms %5d MiB  %s", took.Milliseconds(), grown, expr)
	}
}

// memory is what the process has from the system, in bytes.
func memory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// zipBomb is 256 MiB of zeros, compressed.
func zipBomb(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range 256 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

var expensiveExpressions = []string{
	// numbers
	`pow(10, 1000000)`, `pow(pow(10, 400), 400)`, `tonumber("1e100000000")`, `"${"1e100000000" * 1}"`, `"${-"1e100000000"}"`,
	`abs("1e100000000")`, `max("1e100000000", 1)`, `format("%s", abs("1e100000000"))`, `range(100000)`, `range(0, 1e300)`,
	`tonumber(local.digits)`, `parseint(local.digits, 10)`, `abs(local.digits)`, `bcrypt("a", 31)`, `bcrypt("a", 1e300)`,
	// documents
	`jsondecode("1e100000000")`, `yamldecode("1e100000000")`, `jsondecode(join("", [for i in range(500) : "["]))`, `yamldecode(join("", [for i in range(500) : "- "]))`,
	`yamldecode(join("", [for i in range(500) : "-  "]))`, `yamldecode(join("", [for i in range(500) : "? "]))`, `yamldecode(join("", [for i in range(500) : "{a: "]))`,
	`jsondecode("[${join(",", local.many)},${join(",", local.many)}]")`, `yamldecode("- ${join("\n- ", local.many)}\n- ${join("\n- ", local.many)}")`,
	`yamldecode("a: &a [${join(",", range(1000))}]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nd: &d [*c,*c,*c]\ne: &e [*d,*d,*d]\nf: [*e,*e,*e]\n")`,
	`csvdecode("a,b\n${replace(local.long, " ", "\n")}")`, `base64gunzip(var.zip)`,
	// collections
	`setproduct(range(1000), range(1000))`, `setproduct(range(100), range(100), range(100))`, `concat([for i in range(600) : local.many]...)`,
	`concat(local.many, local.many)`, `flatten([local.many, local.many])`, `zipmap(local.many, [for i in range(600) : local.many])`,
	// text
	`format("%0*d", 100000000, 1)`, `format("%.99999999f", 1)`, `formatlist("%99999999d", [1])`, `format(join("", [for i in range(1000) : "%9999s%9999s"]), "a")`,
	`format(join("", [for i in range(1000) : "%[1]s"]), local.long)`, `formatlist("%9999s", local.many)`, `formatlist("%s%[2]s%[2]s", local.many, local.long)`,
	`indent(100000000, "a\nb")`, `indent(1000, replace(local.long, " ", "\n"))`, `join(local.long, local.many)`, `split("", local.long)`, `split(" ", local.long)`,
	`replace(local.long, " ", local.long)`, `replace(local.long, "/ /", local.long)`, `replace(local.long, "/(.*)/", "$1$1$1$1")`, `regexall("", local.long)`, `regexall(" ", local.long)`,
	`regex("((a{1000}){1000}){1000}", "a")`, `"${local.long}${local.long}"`,
	// templates
	`templatestring("%%{ for a in x }%%{ for b in x }%%{ for c in x }a%%{ endfor }%%{ endfor }%%{ endfor }", { x = range(1000) })`,
	`templatestring("%%{ for a in x }$${long}%%{ endfor }", { x = range(1000), long = local.long })`,
	`[for i in range(1000) : templatestring("%%{ for a in x }%%{ for b in x }a%%{ endfor }%%{ endfor }", { x = range(1000) })]`, `try([for i in range(1000) : templatestring("%%{ for a in x }%%{ for b in x }a%%{ endfor }%%{ endfor }", { x = range(1000) })], 1)`,
	// for expressions
	`[for i in range(101) : range(1000)]`, `[for i in range(1000) : "${format("%9999s", i)}${format("%9999s", i)}"]`,
	`length([for a in range(10) : [for b in range(10) : [for c in range(10) : [for d in range(10) : [for e in range(10) : [for f in range(10) : [for g in range(10) : g]]]]]]])`,
	`[for a in range(1000) : 1 if length([for b in range(1000) : 1 if length([for c in range(1000) : c if c > 2000]) > 0]) > 0]`,
	`length([for a in range(1000) : try([for b in range(1000) : [for c in range(1000) : c]], 1)])`,
	`length([for a in range(1000) : can([for b in range(1000) : [for c in range(1000) : c]])])`,
	`length([for i in range(1000) : "${local.long}${i}"])`, `{ for a in range(1000) : a => [for b in range(1000) : [for c in range(1000) : c]] }`,
	`length([for i in range(1000) : local.many])`,
}
