/*
 * Reads the operands of a verb.
 */
#include "host/cli/operand.h"

#include "host/cli/report.h"
#include "host/core/text.h"

#include <errno.h>

int operand_pid(char **operands, int count, pid_t *ret, struct err *err)
{
	if (count > 1)
		return report_surplus(operands[1], err);
	if (count == 1 && !text_parse_pid(operands[0], ret))
		return 0;
	if (count == 1)
		err_set(err, -EINVAL, "'%s' is not a process number", operands[0]);
	else
		err_set(err, -EINVAL, "the process number is missing");
	err_fix(err, "limpet ps lists processes with their numbers");
	return err_exit(err, EXIT_USAGE);
}
