// SPDX-License-Identifier: LGPL-2.1-or-later
package org.lttng.ust.agent.jul;

import java.io.IOException;
import org.ltt.agent.LttLogHandler;

/** For programs that were written for LTTng's handler of this name. */
public class LttngLogHandler extends LttLogHandler {
	public LttngLogHandler() throws IOException, SecurityException {
	}
}
