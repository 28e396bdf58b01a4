output "o" { value = module.web.x }
# error 1:22 no module
