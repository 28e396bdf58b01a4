" Highlighting of deployster manifests, for Vim and Neovim.
if exists("b:current_syntax")
  finish
endif

syn match  deploysterOperator "=>\|\.\.\.\|[-+*/%<>!?:=&|]"
syn match  deploysterNumber "\<\d\+\(\.\d\+\)\?\>"
syn keyword deploysterConstant true false null
syn keyword deploysterKeyword for in if else endif endfor
syn match  deploysterFunction "\<\h\w*\ze("
syn match  deploysterReference "\<\(deployster\|local\|var\|type\|plug\|host\|secret\|resource\|artifact\|publish\|remote_state\|module\|dep\|self\|plan\|deny\|each\|count\|path\)\ze\.\h"
syn match  deploysterAttribute "^\s*\zs\h[a-zA-Z0-9_-]*\ze\s*=\s"
syn match  deploysterBlock "^\s*\zs\(deployster\|locals\|variable\|type\|plug\|host\|semaphore\|exclusive\|policy\|notify\|secret\|operation\|resource\|artifact\|publish\|remote_state\|output\|module\|moved\|removed\|check\|assert\|capabilities\|encryption\|exports\|kubernetes\|lifecycle\|postcondition\|precondition\|retry\|rule\|timeouts\|validation\|verify\|watch\)\ze\s*\(\"[^\"]*\"\s*\)\?{"
syn match  deploysterEscape "\\." contained
syn match  deploysterEscape "\$\${\|%%{" contained
syn region deploysterTemplate matchgroup=deploysterDelimiter start="[$%]{\~\?" end="\~\?}" contained
  \ contains=deploysterString,deploysterNumber,deploysterConstant,deploysterKeyword,deploysterFunction,deploysterReference,deploysterOperator
syn region deploysterString start=+"+ skip=+\\"+ end=+"+ contains=deploysterEscape,deploysterTemplate
syn region deploysterString start="<<-\?\z(\h[a-zA-Z0-9_-]*\)\s*$" end="^\s*\z1\s*$" contains=deploysterEscape,deploysterTemplate
syn match  deploysterComment "\(#\|//\).*$"
syn region deploysterComment start="/\*" end="\*/"

hi def link deploysterOperator Operator
hi def link deploysterNumber Number
hi def link deploysterConstant Boolean
hi def link deploysterKeyword Keyword
hi def link deploysterFunction Function
hi def link deploysterReference Identifier
hi def link deploysterAttribute Label
hi def link deploysterBlock Structure
hi def link deploysterEscape SpecialChar
hi def link deploysterDelimiter Delimiter
hi def link deploysterString String
hi def link deploysterComment Comment

let b:current_syntax = "hcl"
