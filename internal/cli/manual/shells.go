package manual

// Shells returns the shells that have a completion script.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Script returns the script that makes a shell complete the words of deployster: it calls
// the hidden command complete.
func Script(shell string) (text string, ok bool) {
	text, ok = scripts[shell]
	return text, ok
}

var scripts = map[string]string{
	"bash": `# bash completion of deployster. Put this line into ~/.bashrc:
#   eval "$(deployster completion bash)"
_deployster() {
  local line=${COMP_LINE:0:COMP_POINT} last=${COMP_WORDS[COMP_CWORD]} words word whole
  read -r -a words <<<"$line"
  [[ $line == *" " ]] && words+=("")
  whole=${words[-1]}
  words[-1]=${whole//\\/}
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    printf -v word %q "$word" # disk["a"] has what the shell would remove
    [[ $whole == -*=* ]] && word=${whole%%=*}=$word
    # What bash takes for earlier words, because of = and :, is not inserted again.
    COMPREPLY+=("${word#"${whole%"$last"}"}")
  done < <(deployster complete -- "${words[@]:1}" 2>/dev/null)
  [[ $last == = ]] && COMPREPLY=("${COMPREPLY[@]#=}")
}
complete -o default -F _deployster deployster
`,
	"zsh": `#compdef deployster
# zsh completion of deployster. Put this line into ~/.zshrc, after compinit:
#   source <(deployster completion zsh)
_deployster() {
  local word means prefix
  local -a found shown
  [[ $words[CURRENT] == -*=* ]] && prefix=${words[CURRENT]%%=*}=
  while IFS=$'\t' read -r word means; do
    found+=("$prefix$word")
    shown+=("$word${means:+  $means}")
  done < <(deployster complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then
    compadd -l -d shown -a found
  else
    _files
  fi
}
compdef _deployster deployster
`,
	"fish": `# fish completion of deployster. Put this line into ~/.config/fish/config.fish:
#   deployster completion fish | source
function __deployster_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l prefix (string match -r -- '^-[^=]*=|^' "$words[-1]")
  set -l found (deployster complete -- $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $prefix$found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c deployster -f -a '(__deployster_complete)'
`,
}
