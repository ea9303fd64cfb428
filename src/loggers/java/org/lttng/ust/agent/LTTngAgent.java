// SPDX-License-Identifier: LGPL-2.1-or-later
package org.lttng.ust.agent;

import java.util.logging.Handler;
import java.util.logging.Logger;
import org.ltt.agent.LttLogHandler;

/** For programs that were written for LTTng's first agent: a handler of the root logger. */
public final class LTTngAgent {
	private static LTTngAgent agent;
	private final Handler handler = new LttLogHandler();

	private LTTngAgent() {
		Logger.getLogger("").addHandler(handler);
	}

	public static synchronized LTTngAgent getLTTngAgent() {
		if (agent == null)
			agent = new LTTngAgent();
		return agent;
	}

	public void dispose() {
		synchronized (LTTngAgent.class) {
			Logger.getLogger("").removeHandler(handler);
			agent = null;
		}
	}
}
