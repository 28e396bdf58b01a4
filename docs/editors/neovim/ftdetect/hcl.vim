autocmd BufNewFile,BufRead *.hcl setfiletype hcl
