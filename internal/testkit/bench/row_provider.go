package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The same resource of hashicorp/random for both, in chains of ten.
const (
	integerBlock = "resource \"r%[1]d\" {\n  type = \"bench/random:1#random_integer\"\n" +
		"  config = {\n    min = 1\n    max = 1000000%[2]s\n  }\n}\n"
	integerAfter = "keepers = { before = tostring(resource.r%d.state.result) }"
	randomBlock  = "resource \"random_integer\" \"r%[1]d\" {\n    min = 1\n    max = 1000000%[2]s\n}\n"
	randomAfter  = "keepers = { before = tostring(random_integer.r%d.result) }"
)

// randomModule has hashicorp/random, of the version that randomVersion says, in its go.mod.
const (
	randomModule  = "bridge/testdata/providers/first"
	randomVersion = "1.3.1"
)

// providerRow is a Terraform provider, unchanged, beside terraform with the same program.
func providerRow(ctx context.Context, l *lab) (lines []line, err error) {
	n := l.sized(500)
	b, err := l.newBed()
	defer func() { err = errors.Join(err, b.close()) }()
	if err != nil {
		return nil, err
	}
	mirror := filepath.Join(b.data, "mirror")
	program := filepath.Join(mirror, "registry.terraform.io/hashicorp/random", randomVersion,
		"linux_amd64/terraform-provider-random_v"+randomVersion)
	if err := buildRandom(ctx, program); err != nil {
		return nil, err
	}
	if err := errors.Join(chains(b.work, ".hcl", integerBlock, integerAfter, n),
		b.do(ctx, "image", "pack", "-terraform-provider", program, "-t", "bench/random:1")); err != nil {
		return nil, err
	}
	t, err := l.randomBed(ctx, n, mirror)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	first := line{What: fmt.Sprintf("first `plan` of %d `random_integer` of hashicorp/random %s, each counted", n, randomVersion),
		Beside: "`terraform plan` of them, with the same program", Goal: goal{Faster: 3}}
	if first.Ours, first.Theirs, err = l.inTurns(true, b.ours(ctx, b.reset, "plan"),
		t.side(ctx, t.reset, "plan", "-input=false")); err != nil {
		return nil, err
	}
	apply := line{What: fmt.Sprintf("`apply` creating %d `random_integer` of hashicorp/random %s", n, randomVersion),
		Beside: "`terraform apply` of them, with the same program", Goal: goal{Faster: 4}}
	if apply.Ours, apply.Theirs, err = l.inTurns(true, b.ours(ctx, b.reset, "apply", "-auto-approve"),
		t.side(ctx, t.reset, "apply", "-auto-approve", "-input=false")); err != nil {
		return []line{first}, err
	}
	plan := line{What: fmt.Sprintf("`plan` without changes of %d `random_integer` of hashicorp/random %s", n, randomVersion),
		Beside: "`terraform plan` of them, with the same program", Goal: goal{Faster: 2}}
	plan.Ours, plan.Theirs, err = l.inTurns(true, b.ours(ctx, nil, "plan", "-detailed-exitcode"),
		t.side(ctx, nil, "plan", "-input=false", "-detailed-exitcode"))
	if err != nil {
		return []line{first, apply}, err
	}
	return []line{plan, apply, first}, nil
}

// buildRandom builds the provider from its module.
func buildRandom(ctx context.Context, to string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-trimpath", "-ldflags=-s -w", "-o", to,
		"github.com/terraform-providers/terraform-provider-random")
	cmd.Dir, cmd.Env = randomModule, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("hashicorp/random cannot be built in %s: %w: %s", randomModule, err, out)
	}
	return nil
}

// randomBed is a working directory of terraform with n random_integer; nil on a machine
// without terraform.
func (l *lab) randomBed(ctx context.Context, n int, mirror string) (*terraformBed, error) {
	if l.terraform == "" {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "bench-terraform")
	t := &terraformBed{lab: l, dir: dir, env: []string{"TF_CLI_CONFIG_FILE=" + filepath.Join(mirror, "rc"), "TMPDIR=" + dir}}
	if err != nil {
		return t, err
	}
	rc := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror)
	return t, errors.Join(os.WriteFile(filepath.Join(mirror, "rc"), []byte(rc), 0o600), chains(dir, ".tf", randomBlock, randomAfter, n),
		t.do(ctx, "init"))
}
